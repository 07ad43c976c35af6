//! No input makes a parser panic, hang or take all memory: it is read, or refused in words.
//!
//! `HOST_FUZZ_INPUTS=1000000 cargo test --release -p host --test fuzz` tries a million inputs for each parser (a tenth
//! of that for `--set` and `--solver`); without the variable there are a few thousand, the same each time. Inputs are
//! changed from those in `host/tests/corpus`, where one that once went wrong goes too.
#![allow(clippy::unwrap_used, reason = "`unwrap` is for tests, their helpers among them")]

mod support;

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use host::diagnostic::{Diagnostic, Place};
use host::manifest::Source;
use host::manifest::overrides::Overrides;
use host::plan::plan;
use host::plugins::PluginArguments;
use host::record::event::Event;
use host::record::incident::Incident;
use host::record::state::State;
use host::record::{Timed, TrialFiles, parse_lines};
use plugin_api::load::Plugin;
use plugin_api::rand::RngExt;
use plugin_api::{DrawRequest, Kind, Layout, Rng, Surrogate, rng};

use support::mutate::mutated;
use support::pieces::PIECES;

/// How many inputs each parser gets: a share of `few` where nobody asks for more.
fn inputs(few: usize) -> usize {
    std::env::var("HOST_FUZZ_INPUTS").map_or(few, |count| count.parse().expect("a number of inputs"))
}

/// The inputs in a folder of the corpus with this extension.
fn corpus(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    assert!(!paths.is_empty(), "no .{extension} in {}", folder.display());
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Tries many inputs; one that takes a minute ends the test, and is shown.
fn try_all(name: &str, count: usize, corpus: &[Vec<u8>], mut parse: impl FnMut(Vec<u8>, &mut Rng)) {
    limit_memory();
    let current: Mutex<(Instant, Vec<u8>)> = Mutex::new((Instant::now(), Vec::new()));
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(100));
                let (begun, input) = &*current.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if begun.elapsed() > Duration::from_secs(60) {
                    eprintln!("{name} hangs at {:?}", String::from_utf8_lossy(input));
                    std::process::abort();
                }
            }
        });
        let mut random = rng(20_261_116);
        for input in corpus.iter().cloned() {
            parse(input, &mut random);
        }
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..count {
                let input = mutated(corpus, &mut random);
                *current.lock().unwrap() = (Instant::now(), input.clone());
                parse(input, &mut random);
            }
        }));
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        if let Err(panic) = tried {
            let input = current.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            eprintln!("{name} fails at {:?}", String::from_utf8_lossy(&input.1));
            std::panic::resume_unwind(panic);
        }
    });
}

/// An allocation beyond this ends the test.
fn limit_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = Rlimit { current: Some(3 << 30), ..getrlimit(Resource::Data) };
        setrlimit(Resource::Data, limit).unwrap();
    }
}

/// Plans a text as `host plan` would. Every mistake has to stand somewhere in the text.
fn planned(text: String, set: Vec<String>, solver: Vec<String>) {
    let folder = support::program_folder().to_owned();
    let plugins = PluginArguments { directories: vec![folder], allow_insecure: false };
    // What YAML takes for the end of a line.
    let lines =
        text.chars().filter(|c| matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')).count() + 1;
    let source = Source { label: "m.yaml".to_owned(), text, base: std::env::temp_dir() };
    match plan(&source, &Overrides { set, solver, ..Overrides::default() }, &plugins, &|_| ()) {
        Ok(plan) => assert!(plan.trials().count() > 0),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            mistakes.iter().for_each(|mistake| stands_within(mistake, lines));
        }
    }
}

fn stands_within(mistake: &Diagnostic, lines: usize) {
    assert!(!mistake.to_string().is_empty());
    if let Some(Place::File(_, line, column)) = &mistake.place {
        assert!((1..=lines + 1).contains(line) && *column > 0, "{line}:{column} of {lines} lines");
    }
}

#[test]
fn manifests() {
    try_all("manifest", inputs(3000), &corpus("manifest", "yaml"), |input, _| {
        // A file that is no text is refused before it is parsed.
        planned(String::from_utf8_lossy(&input).into_owned(), vec![], vec![]);
    });
}

#[test]
fn overrides() {
    let whole = String::from_utf8(corpus("manifest", "yaml").pop().unwrap()).unwrap();
    let words: Vec<Vec<u8>> =
        ["penalty.l1=0.5", "methods.a.solver.options.sweeps=3", "psr[steps=10,step=authors]", "seeds=[1, 2]"]
            .map(|word| word.as_bytes().to_vec())
            .to_vec();
    // Each of these makes a whole plan, of a good manifest.
    try_all("override", inputs(300).min(100_000), &words, |input, random| {
        let mut words = String::from_utf8_lossy(&input).into_owned();
        words.insert_str(0, PIECES[random.random_range(0..PIECES.len())]);
        if random.random() {
            planned(whole.clone(), vec![words], vec![]);
        } else {
            planned(whole.clone(), vec![], vec![words]);
        }
    });
}

#[test]
fn journals() {
    let folder = tempfile::tempdir().unwrap();
    try_all("journal", inputs(20_000), &corpus("journal", "jsonl"), |input, _| {
        let text = String::from_utf8_lossy(&input);
        let events = text.lines().filter(|line| Event::parse(line).is_ok()).count();
        let times = parse_lines::<Timed>(&input).count();
        let incidents = parse_lines::<Incident>(&input).count();
        assert!(events + times + incidents <= 3 * (1 + text.lines().count()));
        std::fs::write(folder.path().join("journal.jsonl"), &input).unwrap();
        // Read, or refused at one of its lines.
        if let Err(broken) = TrialFiles::read(folder.path()) {
            assert!(broken.line <= 1 + input.iter().filter(|&&byte| byte == b'\n').count(), "{broken}");
        }
    });
}

#[test]
fn problems() {
    for extension in ["json", "sparse", "qubo", "coo"] {
        try_all(extension, inputs(5000), &corpus("problem", extension), |input, _| {
            let lines = 1 + input.iter().filter(|&&byte| byte == b'\n').count();
            match host::solve::parse("p", extension, Box::new(std::io::Cursor::new(input))) {
                Ok(f) => assert!(f.constant().is_finite()),
                Err(mistake) => stands_within(&mistake, lines),
            }
        });
    }
}

#[test]
fn any_journal_and_state_is_resumed_or_refused() {
    let (results, trials) = (tempfile::tempdir().unwrap(), 40);
    let folder = results.path().to_str().unwrap();
    let manifest = support::SMALLEST.replace("surrogate: random", "surrogate: bayes-linear")
        + &format!("seeds: {trials}\nevaluation: {{ retries: 0 }}\n");
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", folder];
    assert!(support::output(&arguments, &manifest).status.success());
    let run = results.path().join("smallest/r");
    let mut random = rng(20_261_116);
    for _ in 0..inputs(2).min(100) {
        for seed in 1..=trials {
            let trial = run.join(format!("trials/annealing-seed{seed}"));
            for file in ["journal.jsonl", "state"] {
                if random.random() {
                    let bytes = std::fs::read(trial.join(file)).unwrap();
                    std::fs::write(trial.join(file), mutated(&[bytes], &mut random)).unwrap();
                }
            }
        }
        let resumed = support::output(&[&arguments[..], &["--resume"]].concat(), &manifest);
        let words = String::from_utf8_lossy(&resumed.stderr).into_owned();
        assert!(matches!(resumed.status.code(), Some(0 | 1)), "{words}");
        assert!(!words.contains("panicked"), "{words}");
        let told =
            |line: &str| line.contains("trial `") || line.contains("a journal is not what was written");
        assert!(words.lines().filter(|line| line.starts_with("error")).all(told), "{words}");
        // What could not be mended is restarted: trials that failed, and finished ones whose journals were changed.
        let failed = words.lines().filter_map(|line| line.strip_prefix("error: trial `")?.split('`').next());
        let broken = words.lines().filter_map(|line| line.strip_prefix("  --> ")?.split("/trials/").nth(1));
        let broken = broken.filter_map(|rest| rest.split('/').next());
        for id in failed.chain(broken).collect::<std::collections::BTreeSet<_>>() {
            std::fs::remove_dir_all(run.join("trials").join(id)).unwrap();
        }
        assert!(support::output(&[&arguments[..], &["--resume"]].concat(), &manifest).status.success());
    }
}

/// A surrogate of the workspace that has seen a few points.
fn taught(plugin: &Plugin, seed: u64) -> Box<dyn Surrogate> {
    let layout = Layout::free(4);
    let mut surrogate = plugin.surrogate(&serde_json::json!({}), &layout).unwrap();
    let mut random = rng(seed);
    for value in 0..7_u32 {
        surrogate.observe(&layout.random(&mut random), &f64::from(value).into()).unwrap();
    }
    surrogate.draw(&DrawRequest::new(seed)).unwrap();
    Box::new(surrogate)
}

#[test]
fn saved_states() {
    for name in ["horseshoe", "bayes-linear", "random"] {
        let path = support::program_folder().join(Kind::Surrogate.file_name(name));
        let plugin = Plugin::load_kind(&path, Kind::Surrogate).unwrap();
        let states: Vec<Vec<u8>> = (1..4).filter_map(|seed| taught(&plugin, seed).save().unwrap()).collect();
        if states.is_empty() {
            continue;
        }
        try_all(name, inputs(3000), &states, |state, _| {
            let mut surrogate = plugin.surrogate(&serde_json::json!({}), &Layout::free(4)).unwrap();
            if surrogate.restore(&state).is_ok() {
                // What it took for a state it has to be able to go on from, or say why not.
                let _ = surrogate.draw(&DrawRequest::new(1));
            }
        });
    }
    let state = State { evaluations: 7, journal: "ab".repeat(32), bytes: (0..=255).collect() };
    try_all("state", inputs(20_000), &[state.encode()], |file, _| drop(State::decode(&file)));
}

#[test]
fn bombs_do_not_go_off() {
    limit_memory();
    let mut aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..30 {
        let before = vec![format!("*a{}", i - 1); 10].join(", ");
        aliases += &format!("a{i}: &a{i} [{before}]\n");
    }
    planned(aliases, vec![], vec![]);
    for piece in ["[", "a: ", "{a: ", "- ", "? ", "!a ", "&a ", "[[],"] {
        planned(piece.repeat(100_000), vec![], vec![]);
    }
    for extension in ["json", "sparse", "qubo", "coo"] {
        for piece in ["[", "{\"linear\":", "[[],", "1 ", "\"", "\n", "c\n", "9"] {
            let text = piece.repeat(100_000).into_bytes();
            let _ = host::solve::parse("p", extension, Box::new(std::io::Cursor::new(text)));
        }
    }
    for piece in ["[", "{\"event\":", "\"", "{\"event\":\"proposed\",\"answers\":["] {
        assert!(Event::parse(&piece.repeat(100_000)).is_err());
    }
}

#[test]
fn a_line_of_100_megabytes_is_read_or_refused() {
    limit_memory();
    const LENGTH: usize = 100_000_000;
    for extension in ["json", "sparse", "qubo", "coo"] {
        for byte in [b'1', b' ', b'x', b'"', b'['] {
            let line: Box<dyn std::io::Read> =
                Box::new(std::io::Read::take(std::io::repeat(byte), LENGTH as u64));
            assert!(host::solve::parse("p", extension, line).is_err());
        }
    }
    assert!(Event::parse(&"\"".repeat(LENGTH)).is_err());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.yaml");
    std::fs::write(&path, vec![b'x'; LENGTH]).unwrap();
    let refused = Source::read(&path).err().expect("a manifest of 100 MB is refused");
    assert!(refused.to_string().contains("too long"), "{refused}");
}
