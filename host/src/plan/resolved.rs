//! Plans with every name resolved: a plugin with all its options, a method, a trial.

use std::path::PathBuf;
use std::rc::Rc;

use plugin_api::Space;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{GivenPoint, TrialId};
use crate::feasible::Sampler;
use crate::manifest::Settings;

/// A plugin with all its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub name: String,
    pub version: String,
    /// Every option, defaults filled.
    pub options: Json,
    /// What finds it: its name, or an absolute path. Where it lies is not what it is.
    pub reference: String,
    /// Its name with the options that differ from their defaults: `sdp[rounding=authors]`.
    pub label: String,
}

/// A method with all names resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodPlan {
    pub name: String,
    /// One or more: all surrogates observe, and each iteration is the next one's.
    pub turns: Vec<TurnPlan>,
    /// Solvers that are recorded only.
    pub shadows: Vec<Spec>,
}

/// A surrogate and the solver that is followed when it has drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnPlan {
    pub surrogate: Spec,
    pub solver: Spec,
}

/// The experiment at one point of its sweep.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The values of the sweep's keys here.
    pub sweep: Map<String, Json>,
    pub keys: Settings,
    /// The points that come first; those with known results stand before the others.
    pub given: Rc<Vec<GivenPoint>>,
    /// Shared by all points that differ in other keys only.
    pub plugins: Rc<PluginPlan>,
}

/// The plugins at a point of the sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginPlan {
    pub benchmark: Spec,
    pub encoder: Spec,
    pub methods: Vec<MethodPlan>,
    /// The benchmark's, with the manifest's constraints beside its own: it follows from these and the benchmark's options.
    pub space: Space,
    /// Whether a point has the same value each time: then none is evaluated twice.
    pub deterministic: bool,
}

/// How many points a space has: those that keep its constraints, where these can be counted, else all.
pub(super) fn points(space: &Space) -> usize {
    let counted = (!space.constraints().is_empty()).then(|| Sampler::new(space).count()).flatten();
    if let Some(count) = counted {
        return count;
    }
    let levels = space.variables().iter().map(|variable| variable.levels().len());
    levels.fold(1_usize, usize::saturating_mul)
}

impl Setting {
    /// How many evaluations a trial has when its budget is spent, given ones among them.
    pub fn evaluations(&self) -> usize {
        self.keys.budget.total(self.given.len())
    }
}

impl ResolvedTrial {
    /// How many evaluations it has when its budget is spent, given ones among them.
    pub fn evaluations(&self) -> usize {
        self.keys.budget.total(self.given.len())
    }
}

impl Serialize for Setting {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { sweep, keys, given: _, plugins } = self;
        let PluginPlan { benchmark, encoder, methods, space: _, deterministic: _ } = plugins.as_ref();
        let mut setting = serializer.serialize_struct("Setting", 5)?;
        setting.serialize_field("sweep", sweep)?;
        setting.serialize_field("keys", keys)?;
        setting.serialize_field("benchmark", benchmark)?;
        setting.serialize_field("encoder", encoder)?;
        setting.serialize_field("methods", methods)?;
        setting.end()
    }
}

/// One trial with everything that it needs: what its process reads, and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResolvedTrial {
    pub experiment: String,
    pub id: TrialId,
    /// The plan's hash.
    pub plan: String,
    /// The values of the sweep's keys.
    pub sweep: Map<String, Json>,
    pub keys: Settings,
    pub benchmark: Spec,
    pub encoder: Spec,
    pub method: MethodPlan,
    /// The points that come first; those with known results stand before the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<GivenPoint>,
    /// Folders of plugins that the manifest names; absolute.
    pub plugin_directories: Vec<PathBuf>,
    /// What the paths in plugins' options start from, where there are any; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
}
