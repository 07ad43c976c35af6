//! `host plan`: the trials, or the whole plan as JSON.

use std::process::ExitCode;

use serde_json::{Value as Json, json};

use super::{make_plan, planning};
use crate::cli::ManifestArguments;
use crate::manifest::Source;
use crate::plan::Plan;
use crate::text::{columns, plain};

pub(super) fn plan(arguments: &ManifestArguments, as_json: bool) -> ExitCode {
    planning::child(|watch| {
        let source = Source::read(&arguments.path).map_err(|diagnostic| vec![diagnostic])?;
        let plan = make_plan(&source, &arguments.changes, watch)?;
        Ok(plain(&show(&plan, as_json)).into_owned() + "\n")
    })
}

fn show(plan: &Plan, as_json: bool) -> String {
    if as_json {
        let trials: Vec<Json> = plan
            .trials()
            .map(|trial| {
                json!({
                    "id": trial.id(), "method": trial.method.name, "seed": trial.seed, "sweep": trial.sweep()
                })
            })
            .collect();
        let json = json!({
            "name": plan.name, "hash": plan.hash, "seeds": plan.seeds, "settings": plan.settings, "trials": trials,
            "notes": plan.notes()
        });
        return serde_json::to_string_pretty(&json).expect("a plan is plain data");
    }
    let header = ["trial", "method", "sweep", "seed", "evaluations"].map(str::to_owned);
    let rows: Vec<Vec<String>> = plan
        .trials()
        .map(|trial| {
            let swept = trial.sweep().iter().map(|(key, value)| format!("{key}={value}"));
            let budget = trial.setting.keys.budget;
            let evaluations = format!("{} + {}", budget.initial, budget.evaluations);
            let sweep = swept.collect::<Vec<_>>().join(" ");
            let (id, method) = (trial.id().to_string(), trial.method.name.clone());
            vec![id, method, sweep, trial.seed.to_string(), evaluations]
        })
        .collect();
    let count = match rows.len() {
        1 => "1 trial".to_owned(),
        count => format!("{count} trials"),
    };
    let notes: String = plan.notes().iter().map(|note| format!("# note: {note}\n")).collect();
    format!("# {count}; every default filled:\n{notes}{}\n{}", plan.yaml, columns(&header, &rows))
}
