//! The true values of what trials with `samples: fresh` found, the luckiest point and the recommended one:
//! `cargo run --release -p benchmark-contamination --example true-values RUN [SIMULATIONS [SEED]]`.
//!
//! Reads the journals of a run's folder, and simulates the same 10,000 supplies for every point, with the benchmark's defaults
//! otherwise. Prints a line for each trial, then for each method and point of the sweep the paired difference.

#[path = "../src/options.rs"]
#[allow(dead_code, reason = "the values need a part of it")]
mod options;
#[path = "../src/supplies.rs"]
#[allow(dead_code, reason = "the values need a part of it")]
mod supplies;

use std::collections::BTreeMap;
use std::path::Path;

use options::Options;
use plugin_api::serde_json::{self, Value};
use supplies::Supplies;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, rest @ ..] = &arguments[..] else {
        eprintln!("which run? results/NAME/ID");
        std::process::exit(2);
    };
    let number = |i: usize, default: u64| {
        rest.get(i).map_or(default, |text: &String| text.parse().expect("a whole number"))
    };
    let (simulations, seed) = (number(0, 10_000) as usize, number(1, 20_261_118));
    let mut folders: Vec<_> = std::fs::read_dir(Path::new(run).join("trials"))
        .expect("the folder of a run")
        .map(|entry| entry.expect("a folder").path())
        .collect();
    folders.sort();
    let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    println!("trial, luckiest value, its true value, true value of the recommended point");
    for folder in folders {
        let journal = std::fs::read_to_string(folder.join("journal.jsonl")).expect("a journal");
        let (mut luckiest, mut recommended) = (None, None);
        for line in journal.lines() {
            let event: Value = serde_json::from_str(line).expect("a line of JSON");
            match event["event"].as_str() {
                Some("recommended") => recommended = Some(point(&event["point"])),
                Some("finished") => {
                    luckiest = event["best"].as_f64().map(|best| (best, point(&event["point"])))
                }
                _ => {}
            }
        }
        let (Some((seen, lucky)), Some(recommended)) = (luckiest, recommended) else { continue };
        let supplies = Supplies::random(lucky.len(), simulations, seed);
        let [lucky, recommended] = [lucky, recommended].map(|x| value(&supplies, &x));
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        println!("{name}, {seen:.4}, {lucky:.4}, {recommended:.4}");
        let group = name.rsplit_once("-seed").map_or("", |(group, _)| group);
        groups.entry(group.to_owned()).or_default().push((seen, lucky, recommended));
    }
    groups.iter().for_each(|(group, rows)| show(group, rows));
}

/// The luckiest value, the true value of its point, and that of the recommended point.
type Row = (f64, f64, f64);

fn show(group: &str, differences: &[Row]) {
    let n = differences.len() as f64;
    let mean = |of: &dyn Fn(&Row) -> f64| differences.iter().map(of).sum::<f64>() / n;
    let difference = |row: &Row| row.1 - row.2;
    let average = mean(&difference);
    let square = |x: f64| x * x;
    let error = (mean(&|row| square(difference(row) - average)) / (n - 1.0)).sqrt();
    let count = |of: &dyn Fn(f64) -> bool| differences.iter().filter(|row| of(difference(row))).count();
    println!("{group}, means of {n} trials: luckiest value {:.4}", mean(&|row| row.0));
    println!(
        "true value of its point {:.4}, of the recommended point {:.4}",
        mean(&|row| row.1),
        mean(&|row| row.2)
    );
    println!(
        "the recommended point is better by {average:.4} ± {error:.4} (standard error of paired differences): better on {}, \
         the same on {}, worse on {}",
        count(&|d| d > 0.0),
        count(&|d| d == 0.0),
        count(&|d| d < 0.0)
    );
}

fn point(levels: &Value) -> Vec<bool> {
    levels.as_array().into_iter().flatten().map(|level| level == 1).collect()
}

fn value(supplies: &Supplies, x: &[bool]) -> f64 {
    let Options { rho, limit, .. } = Options::default();
    let preventions = x.iter().filter(|&&prevent| prevent).count() as f64;
    preventions + rho * supplies.violations(x, limit) as f64 / supplies.simulations() as f64
}
