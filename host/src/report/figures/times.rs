//! Where the time went.

use super::rows::{self, Around, Bar};
use super::scale::Kind;
use super::{Figure, Panel, View};
use crate::report::analysis::model::Model;
use crate::report::analysis::trial::{Sum, TrialRecord};

/// More rows than this do not fit on a screen.
const MOST_ROWS: usize = 40;

/// Seconds a trial, by phase.
pub(super) fn phases(model: &Model<'_>) -> Option<Panel> {
    let several = model.settings.len() > 1;
    let rows: Vec<Bar> = model
        .settings
        .iter()
        .flat_map(|setting| setting.methods.iter().map(move |(method, trials)| (setting, method, trials)))
        .map(|(setting, method, trials)| {
            let total = |phase: fn(&TrialRecord) -> Sum| {
                trials.iter().map(|trial| phase(trial).sum).sum::<f64>() / trials.len() as f64
            };
            let name =
                if several { format!("{}, {method}", model.label(setting)) } else { (*method).to_owned() };
            let parts = vec![
                total(|trial| trial.fit),
                total(|trial| trial.solve),
                total(|trial| trial.evaluate),
                total(|trial| trial.shadows),
            ];
            Bar { name, parts }
        })
        .collect();
    if rows.iter().all(|row| row.parts.iter().sum::<f64>() == 0.0) {
        return None;
    }
    let drawn = &rows[..rows.len().min(MOST_ROWS)];
    let around =
        Around { title: "Time by phase", heading: "", x: "seconds a trial", kind: Kind::Linear, level: None };
    let scene = rows::bars(&around, &["fit", "AFO", "evaluate", "shadows"], drawn);
    let more = match rows.len() {
        count if count > MOST_ROWS => format!(" The first {MOST_ROWS} of {count} rows are drawn."),
        _ => String::new(),
    };
    Some(Panel {
        id: "time",
        title: "Where the time went".to_owned(),
        caption: format!(
            "Mean seconds of a trial: drawing from the model (fit), minimising what was drawn (AFO), evaluating the \
             objective; and the shadows, which only the comparison needs.{more}"
        ),
        views: vec![View {
            label: String::new(),
            figures: vec![Figure { file: Some("time".to_owned()), scene }],
        }],
    })
}
