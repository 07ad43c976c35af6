//! Parts of a plan, run anywhere, and united: nothing lost, nothing half there, nothing mixed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use host::record::Chain;
use host::record::event::Event;
use insta::assert_snapshot;
use plugin_api::rand::RngExt;
use plugin_api::rng;
use serde_json::Value as Json;

use crate::support::{command, host, journals_in, output};

/// Twelve trials: two methods, two points of a sweep, three seeds.
const MANIFEST: &str = "\
name: parts
seeds: 3
budget: { initial: 2, evaluations: 2 }
benchmark: { use: labs, options: { n: 6 } }
methods:
  one: { surrogate: random, solver: annealing }
  two: { surrogate: bayes-linear, solver: annealing, shadows: [exhaustive] }
sweep: { benchmark.options.n: [6, 7] }
";

struct Study {
    results: tempfile::TempDir,
}

impl Study {
    fn new() -> Self {
        Self { results: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.results.path().join("parts").join(name)
    }

    fn run(&self, id: &str, more: &[&str]) -> PathBuf {
        let results = self.results.path().to_str().unwrap();
        let arguments = ["run", "-", "--quiet", "--in-process", "--run-id", id, "--output", results];
        let run = output(&[&arguments[..], more].concat(), MANIFEST);
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        self.path(id)
    }

    /// All parts of this many, each in a folder of its own.
    fn parts(&self, of: usize) -> Vec<PathBuf> {
        (1..=of).map(|part| self.run(&format!("p{part}"), &["--shard", &format!("{part}/{of}")])).collect()
    }

    /// What a person sees, without where it was.
    fn seen(&self, arguments: &[&str]) -> String {
        host(arguments, MANIFEST).replace(self.results.path().to_str().unwrap(), "results")
    }

    fn merge(&self, folders: &[PathBuf], to: &Path, more: &[&str]) -> String {
        let mut arguments: Vec<&str> = vec!["merge", "-o", to.to_str().unwrap()];
        arguments.extend(folders.iter().map(|folder| folder.to_str().unwrap()));
        self.seen(&[&arguments[..], more].concat())
    }

    /// What is there besides these folders.
    fn others(&self, folders: &[PathBuf]) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("")).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| !folders.contains(path)).map(|path| path.display().to_string()).collect()
    }
}

/// A summary without what took how long, which no two runs have in common.
fn summary(folder: &Path) -> Json {
    fn timeless(json: &mut Json) {
        match json {
            Json::Object(map) => {
                // How many predictions a model is asked for depends on the time they take.
                map.retain(|key, _| !key.contains("seconds") && key != "predictions");
                map.values_mut().for_each(timeless);
            }
            Json::Array(list) => list.iter_mut().for_each(timeless),
            _ => {}
        }
    }
    let mut json = serde_json::from_slice(&std::fs::read(folder.join("summary.json")).unwrap()).unwrap();
    timeless(&mut json);
    json
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// A copy of a run, which may be changed.
fn copy(from: &Path, to: &Path) -> PathBuf {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => drop(copy(&entry.path(), &target)),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
    to.to_owned()
}

/// The journal of a trial with other events, chained as if they had been written so.
fn rewrite(journal: &Path, change: impl Fn(Vec<String>) -> Vec<String>) {
    let text = std::fs::read_to_string(journal).unwrap();
    let mut chain = Chain::default();
    let lines = change(text.lines().map(str::to_owned).collect());
    let written = lines.iter().map(|line| chain.append(&Event::parse(line).unwrap()) + "\n");
    std::fs::write(journal, written.collect::<String>()).unwrap();
}

#[test]
fn parts_that_are_united_are_the_run_of_the_whole_plan() {
    let study = Study::new();
    let whole = study.run("whole", &[]);
    let parts = study.parts(5);
    let sizes: Vec<usize> = parts.iter().map(|part| journals_in(part).len()).collect();
    assert_eq!(
        (sizes.iter().sum::<usize>(), sizes.iter().max(), sizes.iter().min()),
        (12, Some(&3), Some(&2))
    );
    let merged = study.path("merged");
    assert_snapshot_of(&study, "merged_parts", &study.merge(&parts, &merged, &[]));
    assert_eq!(journals_in(&merged), journals_in(&whole));
    assert_eq!(summary(&merged), summary(&whole));
    for same in ["plan.yaml", "identity.json", "spaces.json", "best.json"] {
        assert_eq!(read(&merged, same), read(&whole, same), "{same}");
    }
    // What stands beside the journals came along, and the part that it was did not.
    let names = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&merged), names(&whole));
    for id in journals_in(&whole).keys() {
        let trial = format!("trials/{id}");
        assert_eq!(names(&merged.join(&trial)), names(&whole.join(&trial)), "{id}");
    }
    // Of two that began in the same second and took as long, one is left.
    let sessions = |folder: &Path| -> Vec<Json> {
        let file: Json = serde_json::from_str(&read(folder, "sessions.json")).unwrap();
        file["sessions"].as_array().unwrap().clone()
    };
    let united = sessions(&merged);
    assert!(parts.iter().flat_map(|part| sessions(part)).all(|session| united.contains(&session)));
    assert!(study.seen(&["doctor", merged.to_str().unwrap()]).ends_with("all of its trials have finished\n"));
}

/// A snapshot without times, which differ.
fn assert_snapshot_of(study: &Study, name: &str, seen: &str) {
    let _snapshots = snapshots::in_folder("shards");
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\b\d+(\.\d+)? (µs|ms|s)\b", "[time]");
    settings.add_filter(r" {2,}", "  ");
    settings.add_filter(r"host \d+\.\d+\.\d+", "host [version]");
    settings.bind(|| assert_snapshot!(name, seen.replace(study.results.path().to_str().unwrap(), "results")));
}

#[test]
fn a_part_says_that_it_is_one() {
    let study = Study::new();
    let results = study.results.path().to_str().unwrap();
    let run =
        ["run", "-", "--quiet", "--in-process", "--run-id", "third", "--output", results, "--shard", "3/6"];
    assert_snapshot_of(&study, "a_part", &study.seen(&run));
    let folder = study.path("third");
    assert_snapshot_of(&study, "the_doctor_of_a_part", &study.seen(&["doctor", folder.to_str().unwrap()]));
    assert_snapshot_of(&study, "the_status_of_a_part", &study.seen(&["status", folder.to_str().unwrap()]));
    assert_eq!(summary(&folder)["part"], "3/6");
    let page = read(&folder, "report.html");
    assert!(page.contains("This is part 3 of 6: 2 trials of the 12 in its plan."), "{page}");
    // A trial of another part is not there.
    let other = study.seen(&["trial", folder.to_str().unwrap(), "one-sweep1-seed1"]);
    assert!(other.contains("no trial `one-sweep1-seed1` in"), "{other}");
    let named = study.seen(&["run", "-", "--quiet", "--in-process", "--output", results, "--shard", "1/12"]);
    assert!(named.trim_end().ends_with("Z-shard1of12"), "{named}");
}

#[test]
fn what_is_no_part_is_refused() {
    let study = Study::new();
    let results = study.results.path().to_str().unwrap();
    let refused = |shard: &str| study.seen(&["run", "-", "--output", results, "--shard", shard]);
    let seen: Vec<String> = ["0/16", "17/16", "a/b", "3", "13/13", "1/13"].map(refused).into();
    assert_snapshot_of(&study, "no_parts", &seen.join("\n"));
    assert!(!study.path("").exists(), "nothing was begun");
}

#[test]
fn a_part_goes_on_as_the_part_that_it_is() {
    let study = Study::new();
    let results = study.results.path().to_str().unwrap();
    let whole = study.run("whole", &["--set", "budget.evaluations=4"]);
    let part = study.run("part", &["--shard", "2/4"]);
    let trials: Vec<String> = journals_in(&part).into_keys().collect();
    // One of its trials is begun again, another not at all.
    rewrite(&part.join("trials").join(&trials[0]).join("journal.jsonl"), |lines| lines[..3].to_vec());
    std::fs::remove_dir_all(part.join("trials").join(&trials[1])).unwrap();
    let resume =
        |more: &[&str]| study.seen(&[&["run", "--quiet", "--in-process", "--resume"], more].concat());
    let folder = part.to_str().unwrap();
    assert_snapshot_of(&study, "another_part", &resume(&[folder, "--shard", "3/4"]));
    assert_snapshot_of(&study, "a_part_with_more_seeds", &resume(&[folder, "--set", "seeds=4"]));
    assert!(resume(&[folder]).ends_with("parts/part\n"));
    assert_eq!(journals_in(&part).into_keys().collect::<Vec<_>>(), trials);
    // More evaluations leave every part its trials.
    assert!(resume(&[folder, "--shard", "2/4", "--set", "budget.evaluations=4"]).ends_with("parts/part\n"));
    let (longer, all) = (journals_in(&part), journals_in(&whole));
    assert!(trials.iter().all(|id| longer[id] == all[id]));
    // By its manifest, the latest of this part is found, and none of another.
    let by_manifest = |shard: &str| {
        let more = ["--set", "budget.evaluations=4", "--output", results, "--shard", shard];
        study.seen(&[&["run", "-", "--quiet", "--in-process", "--resume"], &more[..]].concat())
    };
    assert!(by_manifest("2/4").ends_with("parts/part\n"));
    assert_snapshot_of(&study, "no_such_part_to_resume", &by_manifest("1/4"));
    let whole = study.seen(&["run", "--resume", whole.to_str().unwrap(), "--shard", "1/4"]);
    assert!(whole.contains("it was begun with all of its plan"), "{whole}");
}

#[test]
fn what_is_missing_is_said_and_a_resume_runs_it() {
    let study = Study::new();
    let whole = study.run("whole", &[]);
    let parts = study.parts(4);
    let id = journals_in(&parts[0]).into_keys().next().unwrap();
    rewrite(&parts[0].join("trials").join(id).join("journal.jsonl"), |lines| lines[..3].to_vec());
    let merged = study.path("merged");
    let seen = study.merge(&[parts[0].clone(), parts[2].clone()], &merged, &[]);
    assert_snapshot_of(&study, "merged_with_gaps", &seen);
    let seen = study.seen(&["run", "--quiet", "--in-process", "--resume", merged.to_str().unwrap()]);
    assert!(seen.ends_with("parts/merged\n"), "{seen}");
    assert_eq!(journals_in(&merged), journals_in(&whole));
    assert_eq!(summary(&merged), summary(&whole));
}

#[test]
fn a_trial_that_several_folders_have_counts_once_where_one_journal_has_all_of_the_others() {
    let study = Study::new();
    let whole = study.run("whole", &[]);
    let shorter = copy(&whole, &study.path("shorter"));
    let (id, journal) = journals_in(&whole).pop_first().unwrap();
    let path = shorter.join("trials").join(&id).join("journal.jsonl");
    // Torn in the middle of a line.
    std::fs::write(&path, &journal[..journal.len() / 2]).unwrap();
    for (i, folders) in [[&whole, &shorter], [&shorter, &whole], [&whole, &whole]].into_iter().enumerate() {
        let merged = study.path(&format!("merged{i}"));
        let seen = study.merge(&folders.map(PathBuf::clone), &merged, &["--quiet"]);
        assert!(seen.ends_with(&format!("merged{i}\n")), "{seen}");
        assert_eq!(journals_in(&merged), journals_in(&whole));
    }
    // The same length, another value; and both of them are named.
    std::fs::write(&path, &journal).unwrap();
    rewrite(&path, |lines| {
        let change = |line: String| line.replacen("\"penalty\":0.0", "\"penalty\":0.5", 1);
        lines.into_iter().map(change).collect()
    });
    assert_ne!(journals_in(&shorter)[&id], journal);
    let seen = study.merge(&[whole.clone(), shorter.clone()], &study.path("refused"), &[]);
    assert_snapshot_of(&study, "two_different_journals", &seen);
    assert!(!study.path("refused").exists());
}

#[test]
fn folders_that_do_not_belong_together_are_refused_with_the_reason() {
    let study = Study::new();
    let one = study.run("one", &["--shard", "1/2"]);
    let other = study.run("other", &["--shard", "2/2", "--set", "penalty.l1=0.5", "--set", "seeds=4"]);
    let merged = study.path("merged");
    let mut seen = vec![study.merge(&[one.clone(), other], &merged, &[])];
    seen.push(study.merge(std::slice::from_ref(&one), &one, &[]));
    seen.push(study.merge(&[study.path("nowhere"), one.join("trials")], &merged, &[]));
    let nameless = copy(&one, &study.path("nameless"));
    std::fs::remove_file(nameless.join("identity.json")).unwrap();
    seen.push(study.merge(&[one.clone(), nameless.clone()], &merged, &[]));
    let identity = read(&one, "identity.json");
    let becoming = identity.replacen("\"host\"", "\"becoming\": \"ab\",\n  \"host\"", 1);
    std::fs::write(nameless.join("identity.json"), becoming).unwrap();
    seen.push(study.merge(&[nameless], &merged, &[]));
    assert_snapshot_of(&study, "no_belongings", &seen.join("\n"));
    assert!(!merged.exists());
}

#[test]
fn plugins_that_differ_are_refused_unless_that_is_allowed_and_then_all_are_recorded() {
    let study = Study::new();
    let parts = study.parts(2);
    let path = parts[1].join("identity.json");
    let mut identity: Json = serde_json::from_str(&read(&parts[1], "identity.json")).unwrap();
    identity["plugins"][0]["sha256"] = Json::from("0".repeat(64));
    identity["plugins"][1]["sha256"] = Json::from("0".repeat(64));
    identity["plugins"][1]["version"] = Json::from("9.9.9");
    let plugins = identity["plugins"].as_array().unwrap().len();
    std::fs::write(&path, identity.to_string()).unwrap();
    let merged = study.path("merged");
    assert_snapshot_of(&study, "other_plugins", &study.merge(&parts, &merged, &[]));
    assert!(!merged.exists());
    let seen = study.merge(&parts, &merged, &["--allow-changed-plugins"]);
    assert!(seen.ends_with("parts/merged\n"), "{seen}");
    let identity: Json = serde_json::from_str(&read(&merged, "identity.json")).unwrap();
    assert_eq!(identity["plugins"].as_array().unwrap().len(), plugins + 2);
    // The plugins that are here are among those that ran.
    let seen = study.seen(&["run", "--quiet", "--in-process", "--resume", merged.to_str().unwrap()]);
    assert!(seen.ends_with("parts/merged\n"), "{seen}");
}

#[test]
fn a_journal_that_was_changed_is_refused_by_file_and_line_and_links_are_not_followed() {
    let study = Study::new();
    let parts = study.parts(2);
    let merged = study.path("merged");
    let mut ids = journals_in(&parts[1]).into_keys();
    let mut next = || parts[1].join("trials").join(ids.next().unwrap());
    let (changed, linked, elsewhere, misplaced) = (next(), next(), next(), next());
    let journal = changed.join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replacen("\"evaluation\":2", "\"evaluation\":3", 1)).unwrap();
    let secret = study.results.path().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();
    for name in ["timing.jsonl", "notes.txt"] {
        let _ = std::fs::remove_file(linked.join(name));
        std::os::unix::fs::symlink(&secret, linked.join(name)).unwrap();
    }
    let away = study.results.path().join("away");
    std::fs::rename(&elsewhere, &away).unwrap();
    std::os::unix::fs::symlink(&away, &elsewhere).unwrap();
    std::fs::copy(away.join("journal.jsonl"), misplaced.join("journal.jsonl")).unwrap();
    let seen = study.merge(&parts, &merged, &[]);
    assert_snapshot_of(&study, "not_what_was_written", &seen);
    assert_eq!(study.others(&parts), Vec::<String>::new());
    // Without them, what is nothing of ours stays where it is.
    std::fs::write(&journal, text).unwrap();
    std::fs::remove_file(linked.join("timing.jsonl")).unwrap();
    for folder in [&elsewhere, &misplaced] {
        let _ = std::fs::remove_file(folder).or_else(|_| std::fs::remove_dir_all(folder));
    }
    let seen = study.merge(&parts, &merged, &[]);
    assert!(seen.contains("2 of 12 trials are in none of the folders;"), "{seen}");
    assert!(!merged.join("trials").join(linked.file_name().unwrap()).join("notes.txt").exists());
}

#[test]
fn a_folder_that_is_being_run_is_not_merged_and_one_that_is_merged_is_not_run() {
    let study = Study::new();
    let part = study.run("part", &["--shard", "1/2"]);
    let lock = std::fs::File::options().read(true).write(true).open(part.join("lock")).unwrap();
    lock.lock().unwrap();
    let seen = study.merge(std::slice::from_ref(&part), &study.path("merged"), &[]);
    assert!(seen.contains("results/parts/part is being run already"), "{seen}");
    lock.unlock().unwrap();
    lock.lock_shared().unwrap();
    let seen = study.seen(&["run", "--resume", part.to_str().unwrap()]);
    assert!(seen.contains("results/parts/part is being run already"), "{seen}");
    // Several may read it.
    let seen = study.merge(std::slice::from_ref(&part), &study.path("merged"), &[]);
    assert!(seen.contains("\nresults/parts/merged\n"), "{seen}");
}

#[test]
fn a_merge_that_is_killed_leaves_nothing_that_looks_like_a_run() {
    let study = Study::new();
    let whole = study.run("whole", &[]);
    let parts = study.parts(3);
    let before: Vec<BTreeMap<String, String>> = parts.iter().map(|part| journals_in(part)).collect();
    let merged = study.path("merged");
    let kills = std::env::var("HOST_KILLS").map_or(30, |count| count.parse().expect("a number of kills"));
    let seed = 20_261_118;
    println!("seed {seed}");
    let mut random = rng(seed);
    let (mut none, mut whole_ones) = (0, 0);
    for kill in 0..kills {
        let mut arguments = vec!["merge", "--quiet", "-o", merged.to_str().unwrap()];
        arguments.extend(parts.iter().map(|part| part.to_str().unwrap()));
        let mut merge = command(&arguments);
        let mut merge = merge.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.random_range(0..40_000)));
        // Asked nicely, or not.
        match kill % 4 {
            0 => drop(std::process::Command::new("kill").args(["-INT", &merge.id().to_string()]).status()),
            _ => drop(merge.kill()),
        }
        merge.wait().unwrap();
        if merged.exists() {
            assert_eq!(journals_in(&merged), journals_in(&whole), "what has the name is whole");
            std::fs::remove_dir_all(&merged).unwrap();
            whole_ones += 1;
        } else {
            none += 1;
        }
        for path in study.others(&[parts.clone(), vec![whole.clone()]].concat()) {
            let status = output(&["report", &path], "").status.code();
            assert!(path.ends_with(".merging"), "{path}");
            // With its plan it is whole, and lacks its name alone.
            assert_eq!(status == Some(2), !Path::new(&path).join("plan.yaml").exists(), "{path}");
            assert!(status == Some(2) || journals_in(Path::new(&path)) == journals_in(&whole), "{path}");
        }
    }
    println!("{none} times nothing, {whole_ones} times all of it");
    let seen = study.merge(&parts, &merged, &["--quiet"]);
    assert!(seen.ends_with("parts/merged\n"), "{seen}");
    assert_eq!(journals_in(&merged), journals_in(&whole));
    assert_eq!(study.others(&[parts.clone(), vec![whole, merged]].concat()), Vec::<String>::new());
    assert_eq!(parts.iter().map(|part| journals_in(part)).collect::<Vec<_>>(), before);
}
