//! A run as `host run` leaves it, written by hand: every name, value and time is known.

use std::path::{Path, PathBuf};

use host::record::event::Event;
use host::record::{Chain, FORMAT};
use serde_json::{Value as Json, json};

/// What the recorded run is called in its parts.
pub(crate) struct Names<'a> {
    pub(crate) methods: [&'a str; 2],
    pub(crate) shadow: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) description: &'a str,
    pub(crate) sweep: &'a str,
}

pub(crate) const PLAIN: Names<'static> = Names {
    methods: ["psr", "sdp"],
    shadow: "sdp[rounding=authors]",
    reason: "the simulation diverged",
    description: "valve=open pump=off heater=on",
    sweep: "benchmark.options.n",
};

/// Seven seeds, two dimensions, two methods; 3 + 4 evaluations. One evaluation failed, one process died, the last trial is
/// not finished.
pub(crate) fn write(folder: &Path, names: &Names<'_>) -> PathBuf {
    write_many(folder, names, (7, 7))
}

/// The same with this many seeds, and evaluations of each trial.
pub(crate) fn write_many(folder: &Path, names: &Names<'_>, (seeds, evaluations): (u64, u64)) -> PathBuf {
    let run = folder.join("recorded");
    let plan = json!({
        "name": "recorded", "seeds": seeds, "budget": { "initial": 3, "evaluations": evaluations - 3 },
        "methods": { names.methods[0]: {}, names.methods[1]: {} }, "sweep": { names.sweep: [4, 8] }
    });
    std::fs::create_dir_all(&run).unwrap();
    // JSON is YAML.
    std::fs::write(run.join("plan.yaml"), plan.to_string()).unwrap();
    let identity = json!({
        "format": FORMAT, "plan": "0".repeat(64), "host": "0.1.0",
        "plugins": [{ "kind": "solver", "name": "psr", "version": "0.1.0", "sha256": "ab".repeat(32) }]
    });
    std::fs::write(run.join("identity.json"), identity.to_string()).unwrap();
    let session = |began: &str, seconds: f64| {
        json!({
            "began": began, "seconds": seconds, "ended": true, "host": "0.1.0", "commit": "c".repeat(40),
            "machine": { "name": "lab-3", "system": "Linux 6.1 x86_64", "processor": "Zen 4", "cores": 8 }
        })
    };
    let sessions = [session("2026-11-17T22:15:00Z", 4000.0), session("2026-11-18T08:00:30Z", 60.5)];
    std::fs::write(run.join("sessions.json"), json!({ "sessions": sessions }).to_string()).unwrap();
    for (point, bits) in [4, 8].into_iter().enumerate() {
        for (m, method) in names.methods.iter().enumerate() {
            for seed in 1..=seeds {
                trial(&run, names, (m, method), (point, bits), (seed, evaluations));
            }
        }
    }
    run
}

fn trial(
    run: &Path,
    names: &Names<'_>,
    (m, method): (usize, &str),
    (point, bits): (usize, u64),
    (seed, evaluations): (u64, u64),
) {
    // Folders have plain names, whatever stands in the journals.
    let id = format!("{}-sweep{}-seed{seed}", ["psr", "sdp"][m], point + 1);
    let folder = run.join("trials").join(&id);
    std::fs::create_dir_all(&folder).unwrap();
    let mut journal = vec![json!({
        "event": "started", "format": FORMAT, "experiment": "recorded", "trial": id, "method": method, "sweep": { names.sweep: bits },
        "seed": seed, "plan": "0".repeat(64), "plugins": {}, "maximize": false, "bits": bits
    })];
    let mut timing: Vec<Json> = Vec::new();
    let mut best = f64::INFINITY;
    for evaluation in 1..=evaluations {
        let initial = evaluation <= 3;
        if !initial {
            let (iteration, wave) = (evaluation - 3, (seed * evaluation % 5) as f64);
            let answer = |solver: &str, value: f64, bound: Json| json!({ "solver": solver, "value": value, "bound": bound, "bits": "0101", "counts": {} });
            let followed = answer(names.methods[m], -4.0 - wave, json!(-9.5));
            let shadow = answer(names.shadow, -3.5 - wave * 0.9, json!(null));
            journal.push(json!({
                "event": "proposed", "iteration": iteration, "answers": [followed, shadow], "choice": "answer"
            }));
            let seconds = 0.001 * bits as f64;
            timing.push(json!({ "step": "fit", "iteration": iteration, "seconds": 0.01 * bits as f64 }));
            timing.push(json!({
                "step": "solve", "iteration": iteration, "solver": names.methods[m], "followed": true, "seconds": seconds
            }));
            timing.push(json!({
                "step": "solve", "iteration": iteration, "solver": names.shadow, "followed": false, "seconds": 3.0 * seconds
            }));
        }
        let phase = if initial { "initial" } else { "search" };
        journal.push(json!({ "event": "evaluating", "evaluation": evaluation, "phase": phase, "point": [1, 0, evaluation] }));
        let fails = evaluation == 2 && seed == 3;
        // The initial design is the same for both methods; then the second falls behind, except on one seed.
        let behind = if m == 1 && !initial && seed != 5 { 0.25 * seed as f64 } else { 0.0 };
        let value = 10.0 / evaluation as f64 + seed as f64 * 0.1 + behind;
        let (status, value) = if fails { ("failed", None) } else { ("ok", Some(value)) };
        best = value.map_or(best, |value| best.min(value));
        let mut evaluated = json!({
            "event": "evaluated", "evaluation": evaluation, "status": status, "penalty": 0.0, "total": value,
            "best": best.is_finite().then_some(best)
        });
        match value {
            Some(value) => evaluated["value"] = json!(value),
            None => evaluated["reason"] = json!(names.reason),
        }
        journal.push(evaluated);
        timing.push(json!({ "step": "evaluate", "evaluation": evaluation, "seconds": 0.002 }));
    }
    let unfinished = m == 1 && point == 1 && seed == 7;
    if !unfinished {
        journal.push(json!({
            "event": "finished", "evaluations": evaluations, "best": best, "point": [1, 0, 1], "description": names.description,
            "optimum": 1.0
        }));
    }
    let lines = |lines: &[Json]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let mut chain = Chain::default();
    let mut sealed = |event: &Json| chain.append(&Event::parse(&event.to_string()).unwrap()) + "\n";
    let journal: String = journal.iter().map(&mut sealed).collect();
    // A run that is under way ends in the middle of a line.
    let torn = if unfinished { "{\"event\":\"evalu" } else { "" };
    std::fs::write(folder.join("journal.jsonl"), journal + torn).unwrap();
    std::fs::write(folder.join("timing.jsonl"), lines(&timing)).unwrap();
    if m == 0 {
        // What is observed is 10 / evaluation + seed / 10; half of it is within one deviation.
        let expected = |evaluation: u64| {
            let off = if evaluation.is_multiple_of(2) { 0.1 } else { -0.7 };
            let mean = 10.0 / evaluation as f64 + seed as f64 * 0.1 + off;
            json!({ "evaluation": evaluation, "mean": mean, "deviation": 0.5 })
        };
        std::fs::write(
            folder.join("predictions.jsonl"),
            lines(&(4..=evaluations).map(expected).collect::<Vec<_>>()),
        )
        .unwrap();
        let effect = |terms: &[&str], size: f64| json!({ "terms": terms, "size": size, "deviation": 0.25 });
        let effects = [
            effect(&[names.description], -2.0),
            effect(&["pump=on"], 1.0),
            effect(&["pump=on", "heater=14kW"], 0.25),
        ];
        let models = json!([{ "surrogate": "horseshoe", "effects": effects, "left_out": 0 }]);
        std::fs::write(
            folder.join("effects.json"),
            json!({ "evaluations": evaluations, "models": models }).to_string(),
        )
        .unwrap();
    }
    if m == 0 && point == 0 && seed == 4 {
        let died = json!({
            "incident": "died", "during": { "step": "evaluate", "evaluation": 6 }, "timed-out": false,
            "from-outside": false, "reason": names.reason
        });
        std::fs::write(folder.join("incidents.jsonl"), format!("{died}\nno JSON\n")).unwrap();
    }
}
