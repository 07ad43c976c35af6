//! What a trial costs beyond itself: runs an experiment of tiny trials in processes of their own and in one process, by
//! turns, and shows what the processes add.
//!
//! `cargo run --release -p host --example overhead -- target/release/host tiny.yaml [ARGUMENTS]`
//!
//! Times are from the beginning of the first trial to the end of the last, one trial at a time: planning and the report
//! are not in them. The reference does all that a trial has to do, its plugins, journal and every flush to the disk
//! among it. What evaluations, fits and solvers took alone is from `timing.jsonl`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use serde_json::Value as Json;

/// How often each is run; the fastest counts, which others on the machine have disturbed least.
const ROUNDS: usize = 3;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(host), Some(manifest)) = (arguments.next(), arguments.next()) else {
        eprintln!("overhead HOST MANIFEST [ARGUMENTS OF host run]");
        return ExitCode::from(2);
    };
    let more: Vec<String> = arguments.collect();
    let results = std::env::temp_dir().join(format!("host-overhead-{}", std::process::id()));
    let mut fastest = [f64::INFINITY; 2];
    let (mut steps, mut trials) = (0.0, 0);
    for round in 0..ROUNDS {
        for (mode, fastest) in [&["--jobs", "1"][..], &["--in-process"]].into_iter().zip(&mut fastest) {
            let id = format!("{}-{round}", mode[0].trim_start_matches('-'));
            let output = results.display().to_string();
            let mut run = Command::new(&host);
            run.args(["run", &manifest, "--log-format", "json", "--output", &output, "--run-id", &id]);
            match seconds(run.args(mode).args(&more)) {
                Ok((seconds, count)) => {
                    trials = count;
                    *fastest = fastest.min(seconds);
                }
                Err(error) => {
                    eprintln!("{error}");
                    return ExitCode::FAILURE;
                }
            }
        }
        steps = seconds_of_steps(&results);
    }
    let _ = std::fs::remove_dir_all(&results);
    let each = |seconds: f64| 1e3 * seconds / trials as f64;
    let [children, reference] = fastest.map(each);
    println!("{trials} trials, one at a time, the fastest of {ROUNDS}");
    println!("in processes of their own    {children:8.2} ms a trial");
    println!("in one process (reference)   {reference:8.2} ms a trial");
    println!("its steps alone              {:8.2} ms a trial", each(steps));
    println!("what the processes add       {:8.2} ms a trial", children - reference);
    ExitCode::SUCCESS
}

/// From the first trial's begin to the last one's end, and how many there were.
fn seconds(run: &mut Command) -> Result<(f64, usize), String> {
    let child = run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("{run:?} does not start: {error}"))?;
    let (mut begun, mut ended, mut trials, mut said) = (None, None, 0, String::new());
    for line in BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok) {
        let json: Json = serde_json::from_str(&line).unwrap_or_default();
        match json["progress"].as_str() {
            Some("begins") => begun = Some(Instant::now()),
            Some("ends") => {
                ended = begun.map(|begun| begun.elapsed());
                trials = json["trials"].as_u64().map_or(0, |trials| trials as usize);
            }
            Some(_) => {}
            None => said = said + &line + "\n",
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    match ended {
        Some(ended) if status.success() && trials > 0 => Ok((ended.as_secs_f64(), trials)),
        _ => Err(format!("{run:?} failed:\n{said}")),
    }
}

/// What the steps of all trials took together, in the run that is there; of several, in any one of them.
fn seconds_of_steps(results: &Path) -> f64 {
    let below = |folder: &Path| -> Vec<_> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let run = below(results).iter().flat_map(|experiment| below(experiment)).next();
    let trials = run.map(|run| below(&run.join("trials"))).unwrap_or_default();
    let seconds = |trial: &std::path::PathBuf| -> f64 {
        let text = std::fs::read_to_string(trial.join("timing.jsonl")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
        lines.filter_map(|line| line["seconds"].as_f64()).sum()
    };
    trials.iter().map(seconds).sum()
}
