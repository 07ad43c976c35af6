//! Verdicts for people and scripts.

use serde_json::{Value as Json, json};

use super::Checked;
use crate::text::time;

/// A line for each promise, with the reason below one that is broken.
pub fn table(checked: &Checked) -> String {
    let Checked { target, named, verdicts, times } = checked;
    let name = match named {
        Some((name, version)) => format!("{} `{name}` {version}", target.kind),
        None => target.kind.to_string(),
    };
    let mut lines = vec![format!("{name}, {}", target.path.display()), String::new()];
    let width = verdicts.iter().map(|verdict| verdict.promise.len()).max().unwrap_or(0);
    for verdict in verdicts {
        let word = if verdict.broken.is_some() { "FAILED" } else { "ok" };
        lines.push(format!("  {word:<6}  {:<width$}  {}", verdict.promise, verdict.words));
        if let Some(why) = &verdict.broken {
            lines.push(format!("          {:<width$}  → {why}", ""));
        }
    }
    lines.push(String::new());
    lines.extend(times.iter().map(|(call, seconds)| format!("{call} takes {}", time(Some(*seconds)))));
    let broken = verdicts.iter().filter(|verdict| verdict.broken.is_some()).count();
    let kept = verdicts.len() - broken;
    lines.push(match broken {
        0 => format!("all {kept} promises are kept"),
        1 => format!("{kept} promises are kept, 1 is broken"),
        _ => format!("{kept} promises are kept, {broken} are broken"),
    });
    lines.join("\n")
}

/// All of it for scripts.
pub fn json(checked: &Checked) -> Json {
    let Checked { target, named, verdicts, times } = checked;
    let promises: Vec<Json> = verdicts
        .iter()
        .map(|verdict| {
            json!({
                "promise": verdict.promise,
                "words": verdict.words,
                "kept": verdict.broken.is_none(),
                "reason": verdict.broken,
            })
        })
        .collect();
    let times: Vec<Json> =
        times.iter().map(|(call, seconds)| json!({ "call": call, "seconds": seconds })).collect();
    json!({
        "kind": target.kind.name(),
        "name": named.as_ref().map(|(name, _)| name),
        "version": named.as_ref().map(|(_, version)| version),
        "path": target.path,
        "kept": checked.is_kept(),
        "promises": promises,
        "times": times,
    })
}
