//! The figures of a report: the paper's three, and what else shows which method is better and why.

mod axes;
pub(super) mod colours;
mod legend;
mod lines;
pub(super) mod png;
mod rows;
mod scale;
mod scatter;
mod scene;
pub(super) mod svg;

mod best;
mod clock;
mod effects;
mod evaluations;
mod predicted;
mod solvers;
mod times;

pub(super) use scene::{Colour, Item, Scene, Shape, dash, marker};

use super::analysis::learned::Learned;
use super::analysis::model::Model;

/// A figure, and the name of its file.
pub(super) struct Figure {
    /// Its file's name, without the extension; `None` for another view of what has a file already.
    pub file: Option<String>,
    /// What is drawn.
    pub scene: Scene,
}

/// One way to look at a panel.
pub(super) struct View {
    /// What it is called where there are several.
    pub label: String,
    /// Its figures, one for each setting or a single one.
    pub figures: Vec<Figure>,
}

/// Figures of one kind.
pub(super) struct Panel {
    /// Its name in the page.
    pub id: &'static str,
    /// What it is.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The ways to look at it, the best first.
    pub views: Vec<View>,
}

/// Panels whose lines are switched on and off together.
pub(super) struct Group {
    /// Its name in the page.
    pub id: &'static str,
    /// What its lines stand for: `methods`, `solvers`, `pairs`; nothing to switch where that is empty.
    pub what: &'static str,
    /// The names of the lines, in the order of their keys.
    pub names: Vec<String>,
    pub panels: Vec<Panel>,
}

/// Everything there is to draw; groups without data are left out.
///
/// Where solvers are held against shadows, figures have the paper's numbers, and its order. Elsewhere what the methods
/// found comes first.
pub(super) fn figures(model: &Model<'_>, learned: &[Learned<'_>]) -> Vec<Group> {
    let values = Group {
        id: "values",
        what: "methods",
        names: model.methods.clone(),
        panels: [best::best(model), evaluations::evaluations(model), best::finals(model)]
            .into_iter()
            .flatten()
            .collect(),
    };
    let models = Group {
        id: "models",
        what: "methods",
        names: model.methods.clone(),
        panels: [predicted::predicted(model), effects::effects(model, learned)]
            .into_iter()
            .flatten()
            .collect(),
    };
    let afo = Group {
        id: "afo",
        what: "solvers",
        names: model.solvers.clone(),
        panels: [solvers::times(model), solvers::gaps(model)].into_iter().flatten().collect(),
    };
    let improvement = Group {
        id: "improvement",
        what: "pairs",
        names: model.pairs.iter().map(|(name, _)| name.clone()).collect(),
        panels: solvers::improvement(model).into_iter().collect(),
    };
    let seconds = Group {
        id: "seconds",
        what: "",
        names: Vec::new(),
        panels: times::phases(model).into_iter().collect(),
    };
    let mut groups = match numbered(model) {
        true => vec![afo, improvement, values, models, seconds],
        false => vec![values, models, afo, improvement, seconds],
    };
    groups.retain(|group| !group.panels.is_empty());
    groups
}

/// Whether figures have the paper's numbers: it holds a solver against others on the same problems.
fn numbered(model: &Model<'_>) -> bool {
    !model.improvements.is_empty()
}

/// A figure's title, with its number in the paper where these are used.
fn title(model: &Model<'_>, number: usize, title: &str) -> String {
    if numbered(model) {
        return format!("Figure {number}: {title}");
    }
    let mut letters = title.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
