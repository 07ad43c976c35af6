//! Points that somebody else evaluates: asked for and told, in any order, killed at any moment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use insta::assert_snapshot;
use plugin_api::rand::RngExt;
use plugin_api::rng;
use serde_json::Value as Json;

use crate::support::{self, command, events, host, journals_in, output};

/// How many kills: `HOST_ROUND_KILLS=100 cargo test -p host --test all laboratory::` makes a hundred.
fn kills_wanted() -> usize {
    std::env::var("HOST_ROUND_KILLS").map_or(12, |count| count.parse().expect("a number of kills"))
}

const MANIFEST: &str = "\
name: coupling
budget: { initial: 3, evaluations: 20 }
benchmark:
  use: by-hand
  options:
    variables: { solvent: [water, ethanol, toluene], base: [none, amine], hours: [1, 4, 16] }
    ordered: [hours]
    sense: maximize
";

struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new(manifest: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("lab.yaml"), manifest).unwrap();
        Self { folder }
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("results/coupling/lab")
    }

    /// The arguments of `host ask`, with the manifest or with the folder.
    fn asking<'a>(&self, place: &'a mut Vec<String>, more: &[&str]) -> Vec<&'a str> {
        let results = self.folder.path().join("results");
        *place = match self.run().join("plan.yaml").is_file() {
            true => vec!["ask".to_owned(), self.run().display().to_string()],
            false => vec![
                "ask".to_owned(),
                self.folder.path().join("lab.yaml").display().to_string(),
                "--output".to_owned(),
                results.display().to_string(),
            ],
        };
        place.extend(more.iter().map(|&word| word.to_owned()));
        place.iter().map(String::as_str).collect()
    }

    fn ask(&self, count: usize) -> Vec<(u64, Json)> {
        let mut place = Vec::new();
        let asked = output(&self.asking(&mut place, &["-n", &count.to_string(), "--format", "json"]), "");
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
        let asked: Json = serde_json::from_slice(&asked.stdout).unwrap();
        let point = |asked: &Json| (asked["evaluation"].as_u64().unwrap(), asked["point"].clone());
        asked["asked"].as_array().unwrap().iter().map(point).collect()
    }

    fn tell(&self, more: &[&str], stdin: &str) -> (Option<i32>, String) {
        let run = self.run();
        let told = output(&[&["tell", run.to_str().unwrap()], more].concat(), stdin);
        let words = [told.stdout, told.stderr].concat();
        (told.status.code(), self.hidden(&String::from_utf8_lossy(&words)))
    }

    fn hidden(&self, words: &str) -> String {
        words.replace(self.folder.path().to_str().unwrap(), "FOLDER")
    }

    fn journal(&self) -> String {
        journals_in(&self.run()).into_values().next().unwrap()
    }

    /// Numbers of the points under way; none where nothing has been asked for yet.
    fn pending(&self) -> BTreeMap<u64, Json> {
        let status = output(&["status", self.run().to_str().unwrap(), "--json"], "");
        let status: Json = serde_json::from_slice(&status.stdout).unwrap();
        let pending = status[0]["pending"].as_array().cloned().unwrap_or_default();
        pending.iter().map(|asked| (asked["evaluation"].as_u64().unwrap(), asked["point"].clone())).collect()
    }
}

#[test]
fn points_are_asked_for_and_told_in_any_order() {
    let _snapshots = snapshots::in_folder("cli");
    let lab = Lab::new(MANIFEST);
    let mut place = Vec::new();
    let first = host(&lab.asking(&mut place, &["-n", "2"]), "");
    assert_snapshot!("the first points of a laboratory", lab.hidden(&first));
    let (code, words) = lab.tell(&["2=0.5"], "");
    assert_eq!(
        (code, words.as_str()),
        (Some(0), "1 told; 1 under way; best so far 0.5000 at solvent=ethanol base=amine hours=4\n"),
        "{words}"
    );
    let four = lab.ask(4);
    assert_eq!(four.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [3, 4, 5, 6]);
    let status = host(&["status", lab.run().to_str().unwrap()], "");
    assert_snapshot!("what is under way in a laboratory", lab.hidden(&status));
    // From a pipe, from a table, and of a point that nobody asked for.
    let (code, words) = lab.tell(
        &["-"],
        "{\"evaluation\": 6, \"value\": 0.25}\n{\"evaluation\": 1, \"infeasible\": \"too hot\"}\n",
    );
    assert_eq!(code, Some(0), "{words}");
    let table = lab.folder.path().join("done.csv");
    std::fs::write(&table, "evaluation,value,status\n3,0.7,\n4,,failed\n5,,\n").unwrap();
    assert_eq!(lab.tell(&[table.to_str().unwrap()], "").0, Some(0));
    assert_eq!(lab.pending().keys().copied().collect::<Vec<_>>(), [5]);
    let known: BTreeSet<String> = four.iter().map(|(_, point)| point.to_string()).collect();
    assert_eq!(known.len(), 4);
    let other = ["1", "4", "16"].map(|hours| format!("solvent=toluene,base=none,hours={hours}"));
    let asked = |words: &String| {
        four.iter().any(|(_, point)| {
            let level = |name: &str| point[name].to_string().trim_matches('"').to_owned();
            *words == ["solvent", "base", "hours"].map(|name| format!("{name}={}", level(name))).join(",")
        })
    };
    let other = other.iter().find(|words| !asked(words)).expect("not all of the four are these");
    let (code, words) = lab.tell(&["--point", other, "--value", "-1.5"], "");
    assert_eq!(code, Some(0), "{words}");
    // A table of points, filled in.
    let csv = host(&lab.asking(&mut place, &["-n", "2", "--format", "csv"]), "");
    let filled: Vec<String> =
        csv.lines().filter(|line| line.contains(',')).map(|line| line.replace(",\n", "")).collect();
    let filled: Vec<String> = filled
        .iter()
        .enumerate()
        .map(|(i, line)| if i == 0 { line.clone() } else { format!("{line}0.{i}") })
        .collect();
    let (code, words) = lab.tell(&["-"], &filled.join("\r\n"));
    assert!(code == Some(0) && words.starts_with("2 told; 1 under way"), "{words}");
    // The same report as of any run.
    let report = output(&["report", lab.run().to_str().unwrap()], "");
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    let trace = std::fs::read_to_string(lab.run().join("trace.csv")).unwrap();
    assert_eq!(trace.lines().count(), 1 + 8, "{trace}");
}

#[test]
fn what_cannot_be_told_is_refused_and_nothing_is_recorded() {
    let _snapshots = snapshots::in_folder("cli");
    let lab = Lab::new(MANIFEST);
    lab.ask(2);
    assert_eq!(lab.tell(&["1=0.5"], "").0, Some(0));
    let before = lab.journal();
    let (code, again) = lab.tell(&["1=0.5"], "");
    assert!(code == Some(0) && again.starts_with("0 told; 1 known already; 1 under way"), "{again}");
    let mut all = String::new();
    for wrong in [
        &["1=0.6", "2=0.1"][..],
        &["2=0.1", "9=1"],
        &["2=high", "x=1"],
        &["2=NaN"],
        &["--point", "solvent=beer,bse=none", "--value", "1"],
        &["--point", "solvent=water,base=none,hours=1"],
        &["nowhere.csv"],
        &[],
    ] {
        let (code, words) = lab.tell(wrong, "");
        assert_eq!(code, Some(2), "{wrong:?}: {words}");
        all += &format!("tell {}\n{words}\n", wrong.join(" "));
    }
    assert_snapshot!("what cannot be told", all);
    assert_eq!(lab.journal(), before);
    // Neither command goes on with what the other has begun.
    let resumed = host(&["run", "--resume", lab.run().to_str().unwrap(), "--quiet"], "");
    assert!(resumed.contains("is asked and told: `host ask` goes on with it"), "{resumed}");
    let several = Lab::new(&MANIFEST.replace("name: coupling", "name: coupling\nseeds: 2"));
    let mut place = Vec::new();
    let refused = host(&several.asking(&mut place, &[]), "");
    assert!(refused.contains("2 trials, and one can be asked"), "{refused}");
}

#[test]
fn the_same_questions_and_answers_give_the_same_journal_with_the_saved_state_and_without() {
    let talk = |forgetful: bool| {
        let lab = Lab::new(MANIFEST);
        let mut random = rng(7);
        for _ in 0..8 {
            lab.ask(random.random_range(1..3));
            for number in lab.pending().into_keys().collect::<Vec<_>>() {
                if random.random_range(0..3) > 0 {
                    let value = format!("{number}={}", f64::from(random.random_range(0..100_u32)) / 10.0);
                    assert_eq!(lab.tell(&[&value], "").0, Some(0));
                }
            }
            if forgetful {
                let trial =
                    std::fs::read_dir(lab.run().join("trials")).unwrap().next().unwrap().unwrap().path();
                let _ = std::fs::remove_file(trial.join("state"));
            }
        }
        lab.journal()
    };
    let journal = talk(false);
    assert!(journal.contains(r#""phase":"search""#), "{journal}");
    assert_eq!(journal, talk(true));
}

#[test]
fn no_kill_between_ask_and_tell_loses_anything_or_asks_twice() {
    let seed = 20_261_118;
    println!("seed {seed}");
    let mut random = rng(seed);
    let mut kills = 0;
    while kills < kills_wanted() {
        let lab = Lab::new(MANIFEST);
        let mut shown: BTreeMap<u64, String> = BTreeMap::new();
        let mut told: BTreeMap<u64, String> = BTreeMap::new();
        // A space of 18 points.
        while told.len() < 12 {
            let pending = if lab.run().join("plan.yaml").is_file() { lab.pending() } else { BTreeMap::new() };
            let (run, mut place) = (lab.run(), Vec::new());
            let telling: Option<(u64, String)> = match pending.keys().next() {
                Some(&number) if pending.len() > 2 || random.random() => {
                    Some((number, format!("{number}=0.{number}")))
                }
                _ => None,
            };
            let arguments: Vec<&str> = match &telling {
                Some((_, result)) => vec!["tell", run.to_str().unwrap(), result],
                None => lab.asking(&mut place, &["-n", "2", "--format", "json"]),
            };
            let mut child = command(&arguments)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            // From the very beginning, the making of the folder among it.
            if random.random() {
                std::thread::sleep(Duration::from_millis(random.random_range(0..150)));
                let _ = Command::new("kill")
                    .args(["-KILL", &child.id().to_string()])
                    .stderr(Stdio::null())
                    .status();
                kills += usize::from(child.try_wait().unwrap().is_none_or(|status| !status.success()));
            }
            let ended = child.wait_with_output().unwrap();
            let done = ended.status.success();
            if let (true, Some((number, result))) = (done, &telling) {
                told.insert(*number, result.clone());
            }
            if let (true, None, Ok(asked)) = (done, &telling, serde_json::from_slice::<Json>(&ended.stdout)) {
                for asked in asked["asked"].as_array().unwrap() {
                    let (number, point) = (asked["evaluation"].as_u64().unwrap(), asked["point"].to_string());
                    assert_eq!(shown.insert(number, point), None, "evaluation {number} was asked for twice");
                }
            }
            if !done && ended.status.code().is_some() {
                panic!("{}", String::from_utf8_lossy(&ended.stderr));
            }
            if !lab.run().join("plan.yaml").is_file() {
                continue;
            }
            // What was killed may have come far enough: then it counts.
            let journals = journals_in(&lab.run());
            let whole: String = journals
                .values()
                .flat_map(|journal| journal.split_inclusive('\n'))
                .filter(|line| line.ends_with('\n'))
                .collect();
            let (mut begun, mut ended) = (BTreeMap::new(), BTreeMap::new());
            for event in events(&whole) {
                let number = event["evaluation"].as_u64();
                match event["event"].as_str().unwrap() {
                    "evaluating" => drop(begun.insert(number.unwrap(), event["point"].to_string())),
                    "evaluated" => drop(ended.insert(number.unwrap(), event["value"].to_string())),
                    _ => {}
                }
            }
            assert!(shown.keys().all(|number| begun.contains_key(number)), "what was shown is recorded");
            assert!(told.keys().all(|number| ended.contains_key(number)), "what was told is recorded");
            assert_eq!(
                begun.values().collect::<BTreeSet<_>>().len(),
                begun.len(),
                "no point is asked for twice"
            );
            for number in ended.keys() {
                told.entry(*number).or_insert_with(|| format!("{number}=0.{number}"));
            }
        }
    }
    println!("{kills} kills");
}

#[test]
fn a_folder_that_was_being_made_is_finished_by_the_next_command() {
    let whole = Lab::new(MANIFEST);
    whole.ask(1);
    let trial = std::fs::read_dir(whole.run().join("trials")).unwrap().next().unwrap().unwrap().path();
    let trial = trial.strip_prefix(whole.run()).unwrap().to_owned();
    // In the order in which they are written; each may be the last that is there.
    let lost = ["plan.yaml".into(), trial.join("trial.json"), "spaces.json".into(), "identity.json".into()];
    for first_lost in 0..lost.len() {
        for by_manifest in [true, false] {
            let lab = Lab::new(MANIFEST);
            lab.ask(1);
            std::fs::remove_dir_all(lab.run().join(&trial)).unwrap();
            std::fs::create_dir(lab.run().join(&trial)).unwrap();
            for lost in &lost[first_lost..] {
                let _ = std::fs::remove_file(lab.run().join(lost));
            }
            let folder = lab.run().display().to_string();
            let (manifest, results) = (lab.folder.path().join("lab.yaml"), lab.folder.path().join("results"));
            let asking = match by_manifest {
                true => vec!["ask", manifest.to_str().unwrap(), "--output", results.to_str().unwrap()],
                false => vec!["ask", &folder],
            };
            let words = lab.hidden(&host(&asking, ""));
            if first_lost == 0 && !by_manifest {
                assert!(words.contains("`host ask MANIFEST` makes one, and names it"), "{words}");
                continue;
            }
            assert!(words.contains("to tell a result: host tell FOLDER"), "{first_lost}: {words}");
            assert_eq!(lab.journal(), whole.journal(), "{first_lost}");
        }
    }
}

#[test]
fn a_failed_evaluation_is_told_a_value_once_it_has_one() {
    let lab = Lab::new(MANIFEST);
    let asked = lab.ask(2);
    assert_eq!(lab.tell(&["1=failed: spilt", "2=0.5"], "").0, Some(0));
    // Somebody has repaired the instrument: a further evaluation of the same point.
    let (code, words) = lab.tell(&["1=0.75"], "");
    assert_eq!(code, Some(0), "{words}");
    assert!(words.starts_with("1 told; 0 under way; best so far 0.7500"), "{words}");
    let told = events(&lab.journal());
    let again = &told[told.len() - 2];
    assert_eq!((again["evaluation"].as_u64(), again["phase"].as_str()), (Some(3), Some("given")));
    assert_eq!(told.iter().find(|event| event["evaluation"] == 1).unwrap()["point"], again["point"]);
    // Given again, the command changes nothing; another value is a contradiction, and so is another failure.
    let before = lab.journal();
    let (code, words) = lab.tell(&["1=0.75"], "");
    assert!(code == Some(0) && words.starts_with("0 told; 1 known already"), "{words}");
    let (code, words) = lab.tell(&["1=0.8"], "");
    assert!(code == Some(2) && words.contains("evaluation 3 was told already: 0.75"), "{words}");
    assert_eq!(lab.tell(&["1=failed: broken"], "").0, Some(2));
    assert_eq!(lab.tell(&["1=failed: spilt"], "").0, Some(0), "it was told so");
    assert_eq!(lab.journal(), before);
    // The same by its point, and what is infeasible after all.
    let words = ["solvent", "base", "hours"]
        .map(|name| format!("{name}={}", asked[0].1[name].to_string().trim_matches('"')));
    let (code, known) = lab.tell(&["--point", &words.join(","), "--value", "0.75"], "");
    assert!(code == Some(0) && known.starts_with("0 told; 1 known already"), "{known}");
    let more = lab.ask(1)[0].0;
    assert_eq!(more, 4, "the design is as long as it was");
    assert_eq!(lab.tell(&["4=failed"], "").0, Some(0));
    assert_eq!(lab.tell(&["4=infeasible: never"], "").0, Some(0));
    assert!(lab.ask(1)[0].0 == 6 && lab.journal().contains(r#""reason":"never""#));
}

#[test]
fn one_command_that_contradicts_itself_records_nothing() {
    let lab = Lab::new(MANIFEST);
    lab.ask(2);
    let before = lab.journal();
    for wrong in [["1=0.5", "1=0.6"], ["1=0.5", "1=failed"]] {
        let (code, words) = lab.tell(&wrong, "");
        assert!(code == Some(2) && words.contains("this is told twice"), "{words}");
    }
    assert_eq!(lab.journal(), before);
    assert_eq!(lab.tell(&["1=0.5", "1=0.5"], "").0, Some(0), "the same words twice are harmless");
}

#[test]
fn what_no_model_can_take_is_refused_and_the_folder_goes_on_without_its_saved_state() {
    let lab = Lab::new(MANIFEST);
    lab.ask(2);
    let before = lab.journal();
    let (code, words) = lab.tell(&["1=1e200"], "");
    assert!(code == Some(2) && words.contains("not within ±1e150"), "{words}");
    assert_eq!(lab.journal(), before);
    assert_eq!(lab.tell(&["1=100"], "").0, Some(0));
    let trial = std::fs::read_dir(lab.run().join("trials")).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(trial.join("state")).unwrap();
    assert_eq!(lab.ask(3).len(), 3);
    // Nor is there a choice between two words for one thing.
    let before = lab.journal();
    let (code, words) = lab.tell(&["-"], "\n{\"evaluation\": 2,\n \"evaluation\": 3, \"value\": 1}\n");
    assert!(code == Some(2) && words.contains("--> <stdin>:3:13"), "{words}");
    assert!(words.contains("the key `evaluation` stands here twice"), "{words}");
    let (code, words) =
        lab.tell(&["-"], "{\"evaluation\": 2, \"value\": 1}\n\n {\"evaluation\": 99, \"value\": 1}");
    assert!(code == Some(2) && words.contains("--> <stdin>:3:1"), "{words}");
    assert_eq!(lab.journal(), before);
}

#[test]
fn changed_plugins_are_refused_and_once_allowed_they_are_the_folders_own() {
    let own = tempfile::tempdir().unwrap();
    let name = plugin_api::Kind::Surrogate.file_name("random");
    let file = own.path().join(&name);
    std::fs::copy(support::program_folder().join(&name), &file).unwrap();
    let lab = Lab::new(&format!(
        "{MANIFEST}surrogate: random\nsolver: annealing\nplugin-directories: [{}]\n",
        own.path().display()
    ));
    lab.ask(4);
    assert_eq!(lab.tell(&["1=0.5", "4=0.25"], "").0, Some(0));
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.extend([0; 16]);
    std::fs::write(&file, bytes).unwrap();
    let (before, run) = (lab.journal(), lab.run());
    let run = run.to_str().unwrap();
    for refused in [&["ask", run][..], &["tell", run, "2=0.5"]] {
        let words = host(refused, "");
        assert!(words.contains("the surrogate `random` has changed since the run was begun"), "{words}");
        assert!(words.contains("--allow-changed-plugins goes on with this one"), "{words}");
    }
    assert_eq!(lab.journal(), before);
    // What is under way stays under way.
    assert_eq!(lab.tell(&["2=0.75", "--allow-changed-plugins"], "").0, Some(0));
    assert_eq!(lab.pending().into_keys().collect::<Vec<_>>(), [3]);
    assert!(lab.journal().starts_with(&before));
    assert_eq!(lab.ask(1)[0].0, 5);
    assert_eq!(lab.tell(&["3=1"], "").0, Some(0));
    let doctor = lab.hidden(&host(&["doctor", run], ""));
    let way_on =
        "FOLDER/results/coupling/lab is whole; `host ask FOLDER/results/coupling/lab` and `host tell";
    assert!(doctor.contains(way_on) && !doctor.contains("--resume"), "{doctor}");
}

#[test]
fn a_larger_budget_extends_what_is_asked_and_told_and_loses_nothing() {
    let manifest = MANIFEST.replace("evaluations: 20", "evaluations: 6, batch: 4");
    let lab = Lab::new(&manifest);
    lab.ask(6);
    assert_eq!(lab.tell(&["1=0.5", "5=0.25", "6=failed"], "").0, Some(0));
    let before = events(&lab.journal());
    let run = lab.run().display().to_string();
    let asked = host(&["ask", &run, "--set", "budget.evaluations=12"], "");
    assert!(asked.contains("to tell a result"), "{asked}");
    let after = events(&lab.journal());
    assert_eq!(after[1..before.len()], before[1..], "but for the plan's hash, nothing has changed");
    assert!(after.len() > before.len());
    assert_eq!(lab.pending().into_keys().collect::<Vec<_>>(), [2, 3, 4, 7]);
    let refused = host(&["ask", &run, "--set", "seeds=2"], "");
    assert!(refused.contains("2 trials, and one can be asked"), "{refused}");
    let refused = host(&["ask", &run, "--set", "budget.initial=9"], "");
    assert!(refused.contains("holds another experiment"), "{refused}");
    assert_eq!(events(&lab.journal()), after);
}

#[test]
fn results_of_the_table_are_all_there_wherever_the_first_command_was_killed() {
    let lab = Lab::new(&(MANIFEST.to_owned() + "initial: { points: known.csv }\n"));
    let known = "solvent,base,hours,value\nwater,none,1,0.1\nwater,none,4,0.2\ntoluene,amine,4,0.3\n";
    std::fs::write(lab.folder.path().join("known.csv"), known).unwrap();
    lab.ask(1);
    let trial = std::fs::read_dir(lab.run().join("trials")).unwrap().next().unwrap().unwrap().path();
    let (path, whole) = (trial.join("journal.jsonl"), lab.journal());
    for lines in 1..whole.lines().count() {
        let begin: String = whole.split_inclusive('\n').take(lines).collect();
        std::fs::write(&path, begin).unwrap();
        let _ = std::fs::remove_file(trial.join("state"));
        let pending = lab.ask(1).len() + lab.pending().len();
        let values =
            events(&lab.journal()).iter().filter_map(|event| event["value"].as_f64()).collect::<Vec<_>>();
        assert_eq!((values, pending), (vec![0.1, 0.2, 0.3], 2), "after {lines} lines");
    }
}

#[test]
fn two_at_once_wait_for_each_other() {
    let lab = Lab::new(MANIFEST);
    lab.ask(1);
    let run = lab.run();
    let start = || {
        let mut asking = command(&["ask", run.to_str().unwrap(), "--format", "json"]);
        asking.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<_> = (0..4).map(|_| start()).collect();
    for asking in all {
        let ended = asking.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!(lab.pending().len(), 5);
    assert_eq!(lab.pending().values().map(Json::to_string).collect::<BTreeSet<_>>().len(), 5);
}

#[test]
fn a_study_in_python_needs_five_lines() {
    let Ok(python) = Command::new("python3").arg("--version").output() else {
        return println!("skipped: no python3");
    };
    assert!(python.status.success());
    let lab = Lab::new(MANIFEST);
    let script = format!(
        "import sys\nsys.path.insert(0, {:?})\nfrom workbench import Study\n\
         study = Study('lab.yaml', host={:?})\n\
         for _ in range(5):\n    asked = study.ask()[0]\n    study.tell(asked, value=asked.point['hours'] / 10)\n\
         study.tell({{'solvent': 'toluene', 'base': 'none', 'hours': 16}}, infeasible='too hot')\n\
         study.ask(2)\nassert len(Study(study.folder, host={:?}).pending) == 2\n",
        support::workspace().join("plugin-api/python"),
        env!("CARGO_BIN_EXE_host"),
        env!("CARGO_BIN_EXE_host"),
    );
    support::program_folder();
    let ran = Command::new("python3").args(["-c", &script]).current_dir(lab.folder.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let journal = lab.journal();
    assert_eq!(events(&journal).iter().filter(|event| event["event"] == "evaluated").count(), 6, "{journal}");
}
