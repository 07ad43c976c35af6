//! Small seeded runs, down to the journal.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::support::{self, SMALLEST, command, events, host, journals_in, output};

const BENCHMARKS: &[(&str, &str)] = &[
    ("bqp", "{ n: 8 }"),
    ("contamination", "{ stages: 8, simulations: 20 }"),
    ("ising", "{ rows: 2, columns: 4 }"),
    ("labs", "{ n: 9 }"),
    ("max-sat", "{ variables: 8, clauses: 30 }"),
    ("pest-control", "{ stages: 3, simulations: 20 }"),
];
const SOLVERS: &[&str] = &["psr", "sdp", "annealing", "exhaustive"];

/// Runs a manifest and answers every file of its trials by name.
fn run(manifest: &str, more: &[&str]) -> BTreeMap<String, String> {
    let results = tempfile::tempdir().unwrap();
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", results.path().to_str().unwrap()];
    let output = output(&[&arguments[..], more].concat(), manifest);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    journals(results.path())
}

fn journals(results: &Path) -> BTreeMap<String, String> {
    let name = std::fs::read_dir(results).unwrap().next().unwrap().unwrap().path();
    journals_in(&name.join("r"))
}

#[test]
fn every_benchmark_runs_with_every_solver() {
    let _snapshots = snapshots::in_folder("journals");
    for (benchmark, options) in BENCHMARKS {
        let mut manifest = format!(
            "name: small\nbudget: {{ initial: 4, evaluations: 3 }}\npenalty: {{ l1: 0.01 }}\n\
             benchmark: {{ use: {benchmark}, options: {options} }}\nmethods:\n"
        );
        for solver in SOLVERS {
            manifest += &format!("  {solver}: {{ surrogate: horseshoe, solver: {solver} }}\n");
        }
        for (trial, journal) in run(&manifest, &[]) {
            let solver = trial.strip_suffix("-seed1").unwrap();
            assert_snapshot!(format!("{benchmark} {solver}"), journal);
        }
    }
}

/// With more observations than terms, a linear model knows a quadratic objective: so the truth is in the journal.
#[test]
fn what_the_models_expect_and_have_learned_stands_beside_the_journal() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let manifest = "name: asked\nbudget: { initial: 30, evaluations: 12 }\nbenchmark: { use: bqp, options: { n: 5 } }\n\
                    surrogate: bayes-linear\nsolver: exhaustive\n";
    // High values are good: the model sees them with the other sign.
    let run = output(&["run", "-", "--quiet", "--run-id", "r", "--output", folder], manifest);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let trial =
        std::fs::read_dir(results.path().join("asked/r/trials")).unwrap().next().unwrap().unwrap().path();
    let read = |name: &str| std::fs::read_to_string(trial.join(name)).unwrap();
    let events = events(&read("journal.jsonl"));
    let predictions: Vec<Json> =
        read("predictions.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The space has 32 points, two of which are left for the search.
    assert_eq!(events.last().unwrap()["evaluations"], 32);
    assert!(!predictions.is_empty());
    for prediction in &predictions {
        let is =
            |event: &&Json| event["event"] == "evaluated" && event["evaluation"] == prediction["evaluation"];
        let value = events.iter().find(is).unwrap()["value"].as_f64().unwrap();
        let (mean, deviation) =
            (prediction["mean"].as_f64().unwrap(), prediction["deviation"].as_f64().unwrap());
        assert!((mean - value).abs() < 4.0 * deviation, "{prediction} is not {value}");
    }
    let told: Json = serde_json::from_str(&read("effects.json")).unwrap();
    assert_eq!((&told["evaluations"], &told["models"][0]["surrogate"]), (&32.into(), &"bayes-linear".into()));
    let effects = told["models"][0]["effects"].as_array().unwrap();
    let size = |terms: &[&str]| {
        let of = effects.iter().find(|effect| effect["terms"] == serde_json::json!(terms)).unwrap();
        (of["size"].as_f64().unwrap(), of["deviation"].as_f64().unwrap())
    };
    // Five bits and ten pairs. A pair's effect is f(11) − f(10) − f(01) + f(00), the other bits being 0.
    assert_eq!(effects.len(), 15);
    let value = |bits: [u32; 5]| {
        let begun =
            events.iter().find(|e| e["event"] == "evaluating" && e["point"] == serde_json::json!(bits));
        let number = &begun.unwrap()["evaluation"];
        let ended = events.iter().find(|e| e["event"] == "evaluated" && e["evaluation"] == *number);
        ended.unwrap()["value"].as_f64().unwrap()
    };
    let (none, one, two) = (value([0; 5]), value([1, 0, 0, 0, 0]), value([0, 1, 0, 0, 0]));
    let close = |(found, deviation): (f64, f64), truth: f64| {
        assert!((found - truth).abs() < 3.0 * deviation, "{found} ± {deviation} is not {truth}");
        assert!(found * truth > 0.0, "{found} has another sign than {truth}");
    };
    close(size(&["x1=1"]), one - none);
    close(size(&["x1=1", "x2=1"]), value([1, 1, 0, 0, 0]) - one - two + none);
}

#[test]
fn every_surrogate_runs() {
    let _snapshots = snapshots::in_folder("journals");
    // What the forest draws is declared as general, and `psr` takes quadratic functions alone.
    let surrogates = [
        ("horseshoe", "psr"),
        ("bayes-linear", "psr"),
        ("forest", "annealing"),
        ("tpe", "psr"),
        ("random", "psr"),
    ];
    for (surrogate, shadow) in surrogates {
        let manifest = format!(
            "name: small\nbudget: {{ initial: 4, evaluations: 3 }}\n\
             benchmark: {{ use: bqp, options: {{ n: 6 }} }}\nsurrogate: {surrogate}\nsolver: exhaustive\nshadows: [{shadow}]\n"
        );
        let journals = run(&manifest, &[]);
        assert_snapshot!(format!("surrogate {surrogate}"), journals["exhaustive-seed1"]);
    }
}

#[test]
fn relabelled_models_see_other_bits_and_results_have_the_objectives_own_levels() {
    let manifest = "name: relabelled\nseeds: 2\nbudget: { initial: 4, evaluations: 6 }\npenalty: { l1: 0.5 }\n\
        benchmark: { use: bqp, options: { n: 10 } }\nmethods:\n  one: { surrogate: heat, solver: ascent }\n  \
        two: { surrogate: horseshoe, solver: psr }\n";
    let (plain, relabelled) = (run(manifest, &[]), run(manifest, &["--set", "relabel=true"]));
    let mut masks = BTreeMap::new();
    for (trial, journal) in &relabelled {
        let (events, plain) = (events(journal), events(&plain[trial]));
        let initial = |events: &[Json]| events[1..9].to_vec();
        assert_eq!(initial(&events), initial(&plain), "the same first points, values and penalties");
        let mut proposed = None;
        for event in &events {
            let levels = |point: &Json| -> Vec<bool> {
                point.as_array().unwrap().iter().map(|level| level == 1).collect()
            };
            if let Some(point) = event.get("point").filter(|_| event["event"] == "evaluating") {
                let point = levels(point);
                if let Some(answer) = proposed.take() {
                    let answer: Vec<bool> = answer;
                    let mask: String =
                        point.iter().zip(&answer).map(|(a, b)| if a == b { '0' } else { '1' }).collect();
                    let seed = trial.rsplit('-').next().unwrap().to_owned();
                    assert_eq!(
                        masks.entry(seed).or_insert_with(|| mask.clone()),
                        &mask,
                        "one labelling for a seed"
                    );
                }
                let ones = point.iter().filter(|&&bit| bit).count() as f64;
                let evaluated = events.iter().find(|other| {
                    other["event"] == "evaluated" && other["evaluation"] == event["evaluation"]
                });
                assert_eq!(evaluated.unwrap()["penalty"], 0.5 * ones);
            }
            if event["event"] == "proposed" && event["choice"] == "answer" {
                let bits = event["answers"][0]["bits"].as_str().unwrap();
                proposed = Some(bits.chars().map(|bit| bit == '1').collect());
            }
        }
    }
    let masks: Vec<String> = masks.into_values().collect();
    assert!(
        masks.len() == 2 && masks[0] != masks[1] && masks.iter().all(|mask| mask.contains('1')),
        "{masks:?}"
    );
}

/// Two surrogates that take turns, each with its solver.
const TURNS: &str = "\
name: turns
seeds: 2
budget: { initial: 4, evaluations: 7 }
benchmark: { use: bqp, options: { n: 8 } }
methods:
  turns: { surrogate: [horseshoe, bayes-linear], solver: [psr, annealing], shadows: [exhaustive] }
";

#[test]
fn surrogates_take_turns_and_the_journal_says_whose_it_was() {
    let journals = run(TURNS, &[]);
    assert_eq!(journals, run(TURNS, &["--in-process"]));
    let proposed = |journal: &str| -> Vec<String> {
        let events = support::events(journal).into_iter().filter(|event| event["event"] == "proposed");
        events.map(|event| format!("{} {}", event["surrogate"], event["answers"][0]["solver"])).collect()
    };
    let names = ["\"horseshoe\" \"psr\"", "\"bayes-linear\" \"annealing\""];
    assert_eq!(proposed(&journals["turns-seed1"]), names.iter().cycle().take(7).copied().collect::<Vec<_>>());
}

#[test]
fn turns_are_resumed_from_the_states_of_all_surrogates_and_reported() {
    let whole = run(TURNS, &[]);
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", folder];
    assert!(output(&arguments, TURNS).status.success());
    let path = results.path().join("turns/r/trials/turns-seed1/journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    std::fs::write(&path, lines[..lines.len() - 1].concat()).unwrap();
    assert!(output(&[&arguments[..], &["--resume"]].concat(), TURNS).status.success());
    assert_eq!(journals(results.path()), whole);
    let summary = std::fs::read_to_string(results.path().join("turns/r/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let turns = &summary["methods"][0]["turns"];
    assert_eq!((&turns[0]["surrogate"], &turns[0]["proposals"]), (&"horseshoe".into(), &8.into()));
    assert_eq!((&turns[1]["surrogate"], &turns[1]["proposals"]), (&"bayes-linear".into(), &6.into()));
    let page = std::fs::read_to_string(results.path().join("turns/r/report.html")).unwrap();
    assert!(page.contains("Who found the improvements"));
    // The plan as it was written is the same experiment.
    let plan = std::fs::read_to_string(results.path().join("turns/r/plan.yaml")).unwrap();
    assert_eq!(run(&plan, &[]), whole);
}

/// Two methods, a shadow, a sweep and three seeds, in a second.
const SEVERAL: &str = "\
name: several
seeds: 3
budget: { initial: 4, evaluations: 6 }
benchmark: { use: ising, options: { rows: 2, columns: 3 } }
methods:
  psr: { surrogate: horseshoe, solver: psr, shadows: [sdp] }
  annealing: { surrogate: bayes-linear, solver: annealing }
sweep: { penalty.l1: [0, 0.01] }
";

#[test]
fn a_journal_is_the_same_for_any_number_of_jobs_and_in_process() {
    let one = run(SEVERAL, &["--jobs", "1"]);
    assert_eq!(one.len(), 12);
    assert_eq!(one, run(SEVERAL, &["--jobs", "2"]));
    assert_eq!(one, run(SEVERAL, &["--jobs", "5"]));
    assert_eq!(one, run(SEVERAL, &["--in-process"]));
}

#[test]
fn a_journal_is_the_same_for_every_instruction_set() {
    let manifest = "\
name: sets
budget: { initial: 12, evaluations: 9 }
benchmark: { use: ising, options: { rows: 3, columns: 4 } }
methods:
  quadratic: { surrogate: horseshoe, solver: psr }
  linear: { surrogate: { use: horseshoe, options: { order: 1 } }, solver: psr }
  cubic: { surrogate: { use: horseshoe, options: { order: 3, steps: 60 } }, solver: annealing }
";
    let results = tempfile::tempdir().unwrap();
    let path = results.path().join("m.yaml");
    std::fs::write(&path, manifest).unwrap();
    let journals = |kernel: Option<&str>| {
        let folder = results.path().join(kernel.unwrap_or("chosen"));
        let mut run = command(&["run", path.to_str().unwrap(), "--quiet", "--run-id", "r"]);
        run.args(["--output", folder.to_str().unwrap()]).env_remove("HORSESHOE_KERNEL");
        let run = run.envs(kernel.map(|kernel| ("HORSESHOE_KERNEL", kernel))).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        journals_in(&folder.join("sets/r"))
    };
    let portable = journals(Some("portable"));
    assert_eq!(portable.len(), 3);
    assert_eq!(journals(None), portable);
    #[cfg(target_arch = "x86_64")]
    for (name, there) in [
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("avx512", std::is_x86_feature_detected!("avx512f")),
    ] {
        if there {
            assert_eq!(journals(Some(name)), portable, "{name}");
        } else {
            println!("this machine has no {name}");
        }
    }
}

#[test]
fn methods_share_instances_and_initial_designs() {
    let journals = run(SEVERAL, &[]);
    let initial = |trial: &str| {
        let events =
            support::events(&journals[trial]).into_iter().filter(|event| event["phase"] == "initial");
        events.map(|event| event["point"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(initial("psr-sweep1-seed2").len(), 4);
    assert_eq!(initial("psr-sweep1-seed2"), initial("annealing-sweep2-seed2"));
    assert_ne!(initial("psr-sweep1-seed2"), initial("psr-sweep1-seed1"));
}

#[test]
fn a_plan_run_again_gives_the_same_journals() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let first = output(&["run", "-", "--quiet", "--run-id", "r", "--output", folder], SEVERAL);
    assert!(first.status.success());
    let plan = std::fs::read_to_string(results.path().join("several/r/plan.yaml")).unwrap();
    assert_eq!(journals(results.path()), run(&plan, &[]));
}

#[test]
fn the_last_line_names_the_folder_and_the_table_stands_above() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let output = output(&["run", "-", "--quiet", "--run-id", "r", "--output", folder], SEVERAL);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let run_folder = results.path().join("several/r");
    assert_eq!(Path::new(stdout.lines().last().unwrap()), run_folder);
    let mut table = stdout.replace(folder, "[results]");
    // Times differ from run to run, and with them the widths of their columns.
    for (pattern, replacement) in [("─+", "─"), (r"\d+\.\d+ (µs|ms|s)\b", "[time]"), (" +", " ")] {
        table = regex::Regex::new(pattern).unwrap().replace_all(&table, replacement).into_owned();
    }
    assert_snapshot!("the table of a run", table);
    let trace = std::fs::read_to_string(run_folder.join("trace.csv")).unwrap();
    assert_snapshot!("trace.csv", trace.lines().take(12).collect::<Vec<_>>().join("\n"));
    assert_eq!(trace.lines().count(), 1 + 12 * 10);
    let afo = std::fs::read_to_string(run_folder.join("afo.csv")).unwrap();
    // Without the seconds, which differ from run to run.
    let without_seconds = |row: &str| {
        let mut cells: Vec<&str> = row.split(',').collect();
        cells.remove(cells.len() - 2);
        cells.join(",")
    };
    let rows: Vec<String> = afo.lines().take(6).map(without_seconds).collect();
    assert_snapshot!("afo.csv", rows.join("\n"));
    assert_eq!(afo.lines().count(), 1 + 6 * 6 * 3);
    for file in ["plan.yaml", "identity.json", "summary.json"] {
        assert!(run_folder.join(file).is_file(), "{file}");
    }
}

/// Objectives with other variables, one of them in both.
const TWO_SPACES: &str = "name: spaces
budget: { initial: 2, evaluations: 1 }
benchmark: labs
surrogate: random
solver: annealing
sweep:
  benchmark:
    - { use: labs, options: { n: 3 } }
    - { use: pest-control, options: { stages: 2, simulations: 5 } }
";

#[test]
fn exported_points_have_the_names_of_levels_and_the_variables_of_all_objectives() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let ran = output(&["run", "-", "--quiet", "--run-id", "r", "--output", folder], TWO_SPACES);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let run_folder = results.path().join("spaces/r");
    let trace = std::fs::read_to_string(run_folder.join("trace.csv")).unwrap();
    let header: Vec<&str> = trace.lines().next().unwrap().split(',').collect();
    let variables = header.iter().skip_while(|name| !name.starts_with("x.")).count();
    assert!(header[header.len() - variables..].iter().all(|name| name.starts_with("x.")), "{header:?}");

    host(&["export", run_folder.to_str().unwrap(), "--format", "json"], "");
    let rows = std::fs::read_to_string(run_folder.join("trace.jsonl")).unwrap();
    let rows: Vec<Json> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let spaces: Json =
        serde_json::from_slice(&std::fs::read(run_folder.join("spaces.json")).unwrap()).unwrap();
    let mut seen = 0;
    for (trial, space) in [("annealing-sweep1-seed1", 0), ("annealing-sweep2-seed1", 1)] {
        let journal =
            std::fs::read_to_string(run_folder.join("trials").join(trial).join("journal.jsonl")).unwrap();
        let of_trial: Vec<&Json> = rows.iter().filter(|row| row["trial"] == trial).collect();
        let evaluating = events(&journal).into_iter().filter(|event| event["event"] == "evaluating");
        for (row, event) in of_trial.iter().zip(evaluating) {
            let variables = spaces["spaces"][space]["variables"].as_array().unwrap();
            let named: BTreeMap<String, Json> = variables
                .iter()
                .zip(event["point"].as_array().unwrap())
                .map(|(variable, level)| {
                    let name = variable["levels"][level.as_u64().unwrap() as usize].clone();
                    (format!("x.{}", variable["name"].as_str().unwrap()), name)
                })
                .collect();
            let exported: BTreeMap<String, Json> = row
                .as_object()
                .unwrap()
                .iter()
                .filter(|(name, level)| name.starts_with("x.") && !level.is_null())
                .map(|(name, level)| (name.clone(), level.clone()))
                .collect();
            assert_eq!(exported, named);
            seen += 1;
        }
    }
    assert_eq!(seen, 6);

    // A run recorded before there was a file of names is reported and exported without such columns.
    std::fs::remove_file(run_folder.join("spaces.json")).unwrap();
    host(&["report", run_folder.to_str().unwrap()], "");
    let trace = std::fs::read_to_string(run_folder.join("trace.csv")).unwrap();
    assert_eq!(trace.lines().next().unwrap(), header[..header.len() - variables].join(","));
}

#[test]
fn a_solver_and_a_setting_change_what_runs_with_nothing_rebuilt() {
    let journals = run(SEVERAL, &["--solver", "exhaustive", "--set", "penalty.l1=0.5", "--set", "sweep={}"]);
    assert_eq!(journals.len(), 3);
    let journal = &journals["exhaustive-seed1"];
    assert!(journal.contains("\"solver\":\"exhaustive 0.1.0\""));
    let evaluated = journal.lines().find(|line| line.contains("evaluated")).unwrap();
    let evaluated: serde_json::Value = serde_json::from_str(evaluated).unwrap();
    let (value, penalty, total) = (&evaluated["value"], &evaluated["penalty"], &evaluated["total"]);
    assert_eq!(penalty.as_f64().unwrap() % 0.5, 0.0);
    assert_eq!(value.as_f64().unwrap() + penalty.as_f64().unwrap(), total.as_f64().unwrap());
}

#[test]
fn a_stopped_run_goes_on_to_the_same_journals() {
    let whole = run(SEVERAL, &[]);
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", folder];
    assert!(output(&arguments, SEVERAL).status.success());
    // As a kill leaves it: one trial without its end, one with a torn line, one not begun.
    let trial = |id: &str| results.path().join("several/r/trials").join(id);
    let cut = |id: &str, keep: &dyn Fn(&str) -> usize| {
        let path = trial(id).join("journal.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..keep(&text)]).unwrap();
    };
    cut("psr-sweep1-seed1", &|text| text[..text.len() / 2].rfind('\n').unwrap() + 1);
    cut("psr-sweep1-seed2", &|text| text.len() / 3);
    std::fs::remove_dir_all(trial("annealing-sweep2-seed3")).unwrap();
    assert_ne!(journals(results.path()), whole);
    assert!(output(&[&arguments[..], &["--resume"]].concat(), SEVERAL).status.success());
    assert_eq!(journals(results.path()), whole);
}

#[test]
fn a_change_to_a_finished_journal_is_named_by_resume_report_and_export() {
    let _snapshots = snapshots::in_folder("cli");
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let manifest = format!("{SMALLEST}seeds: 2\n");
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", folder];
    assert!(output(&arguments, &manifest).status.success());
    let run = results.path().join("smallest/r");
    let journal = run.join("trials/annealing-seed2/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    // The best value in the last line, and nothing else.
    let best = text.rfind("\"best\":").unwrap() + "\"best\":".len();
    std::fs::write(&journal, format!("{}9{}", &text[..best], &text[best..])).unwrap();
    let hidden = |text: String| text.replace(folder, "[results]");
    let run = run.to_str().unwrap();
    let mut seen = Vec::new();
    for arguments in
        [vec!["run", "--resume", run, "--quiet"], vec!["report", run], vec!["export", run, "--format", "csv"]]
    {
        let output = output(&arguments, "");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        seen.push(hidden(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    assert_eq!((&seen[0], &seen[0]), (&seen[1], &seen[2]));
    assert_snapshot!("a changed journal is named", seen[0]);
    let trace = std::fs::read_to_string(results.path().join("smallest/r/trace.csv")).unwrap();
    assert_eq!(trace.lines().count(), 1 + 5, "the other trial is there");
}

#[test]
fn a_run_without_its_identity_or_of_another_format_is_refused() {
    let _snapshots = snapshots::in_folder("cli");
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", folder];
    assert!(output(&arguments, SMALLEST).status.success());
    let identity = results.path().join("smallest/r/identity.json");
    let plan = std::fs::read_to_string(results.path().join("smallest/r/plan.yaml")).unwrap();
    let hidden = |text: String| text.replace(folder, "[results]");
    let other = SMALLEST.replace("evaluations: 2", "evaluations: 3");
    let resume = [&arguments[..], &["--resume"]].concat();
    let mut seen = String::new();
    for text in [Some("{"), Some("{\"plan\":\"ab\",\"host\":\"0.1.0\",\"plugins\":[]}"), None] {
        match text {
            Some(text) => std::fs::write(&identity, text).unwrap(),
            None => std::fs::remove_file(&identity).unwrap(),
        }
        seen += &hidden(host(&resume, &other));
        assert_eq!(std::fs::read_to_string(results.path().join("smallest/r/plan.yaml")).unwrap(), plan);
    }
    assert_snapshot!("no identity, no resume", seen);
}

#[test]
fn another_experiment_is_not_resumed_and_no_run_is_overwritten() {
    let _snapshots = snapshots::in_folder("cli");
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", folder];
    assert!(output(&arguments, SMALLEST).status.success());
    let hidden = |text: String| text.replace(folder, "[results]");
    assert_snapshot!("a run is not overwritten", hidden(host(&arguments, SMALLEST)));
    let other = SMALLEST.replace("n: 6", "n: 7");
    let resumed = host(&[&arguments[..], &["--resume"]].concat(), &other);
    assert_snapshot!("another experiment is not resumed", hidden(resumed));
    let nothing = host(&["run", "-", "--resume", "--output", folder], &SMALLEST.replace("smallest", "other"));
    assert_snapshot!("there is nothing to resume", hidden(nothing));
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_cleanly_and_says_how_to_go_on() {
    let manifest = SEVERAL.replace("evaluations: 6", "evaluations: 50").replace("columns: 3", "columns: 5");
    let whole = run(&manifest, &[]);
    let results = tempfile::tempdir().unwrap();
    let path = results.path().join("m.yaml");
    std::fs::write(&path, &manifest).unwrap();
    let output_folder = results.path().join("out");
    let arguments =
        ["run", path.to_str().unwrap(), "--run-id", "r", "--output", output_folder.to_str().unwrap()];
    let child = command(&arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = output_folder.join("several/r/trials/psr-sweep1-seed1/journal.jsonl");
    for _ in 0..12_000 {
        if begun.is_file() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(begun.is_file(), "no trial has begun within a minute");
    let interrupt =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains(&format!("host run --resume {}", output_folder.join("several/r").display())),
        "{stderr}"
    );
    let resumed = host(&["run", "--resume", output_folder.join("several/r").to_str().unwrap()], "");
    assert!(!resumed.contains("error"), "{resumed}");
    assert_eq!(journals(&output_folder), whole);
}

#[test]
fn a_trial_that_fails_fails_alone_and_is_listed_at_the_end() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    let manifest = "name: fails\nbudget: { initial: 3, evaluations: 2 }\nbenchmark: { use: labs, options: { n: 40 } }\n\
         methods:\n  bad: { surrogate: random, solver: exhaustive }\n  good: { surrogate: random, solver: annealing }\n";
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", results.path().to_str().unwrap()];
    let output = output(&arguments, manifest);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!("a trial fails", String::from_utf8_lossy(&output.stderr));
    let journals = journals(results.path());
    assert!(journals["good-seed1"].contains("finished"));
    assert!(!journals["bad-seed1"].contains("finished"));
}

#[test]
fn without_a_run_id_the_run_begun_last_is_resumed() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    for id in ["z-first", "a-second"] {
        assert!(
            output(&["run", "-", "--quiet", "--run-id", id, "--output", folder], SMALLEST).status.success()
        );
    }
    let resumed = output(&["run", "-", "--quiet", "--resume", "--output", folder], SMALLEST);
    let stdout = String::from_utf8(resumed.stdout).unwrap();
    assert!(stdout.trim_end().ends_with("a-second"), "{stdout}");
}
