//! What is exported is read by others: pandas and Polars, where `HOST_PYTHON` has them.

use std::process::Command;

use serde_json::Value as Json;

use crate::support::{self, events, journals_in, output};

/// Categories, a sweep over numbers and one over texts, and trials that do not depend on the latter.
const MANIFEST: &str = "\
name: read
seeds: 2
budget: { initial: 3, evaluations: 2 }
benchmark: { use: pest-control, options: { stages: 4 } }
methods:
  swept: { surrogate: random, solver: annealing }
  not: { surrogate: random, solver: ascent }
sweep: { penalty.l1: [0, 0.25], methods.swept.solver: [annealing, exhaustive] }
";

#[test]
fn pandas_and_polars_read_the_points_that_were_evaluated() {
    let Some(python) = std::env::var_os("HOST_PYTHON") else {
        eprintln!("skipped: HOST_PYTHON names no Python with pandas and Polars");
        return;
    };
    let results = tempfile::tempdir().unwrap();
    let place = results.path().to_str().unwrap();
    let run = output(&["run", "-", "--quiet", "--run-id", "r", "--output", place], MANIFEST);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let folder = results.path().join("read/r");
    let exported = output(&["export", folder.to_str().unwrap(), "--format", "parquet"], "");
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));

    let script = support::workspace().join("host/tests/data/read_points.py");
    let read = Command::new(python).arg(script).arg(folder.join("trace.parquet")).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let text = String::from_utf8(read.stdout).unwrap();
    let readers: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(readers.iter().map(|reader| &reader["reader"]).collect::<Vec<_>>(), ["pandas", "polars"]);

    // The truth is in the journals, and the names of levels in the file of spaces.
    let spaces: Json = serde_json::from_slice(&std::fs::read(folder.join("spaces.json")).unwrap()).unwrap();
    let variables = spaces["spaces"][0]["variables"].as_array().unwrap();
    let journals = journals_in(&folder);
    for reader in &readers {
        let rows = reader["rows"].as_array().unwrap();
        assert_eq!(rows.len(), journals.len() * 5);
        for (row, exact) in rows.iter().zip(reader["values"].as_array().unwrap()) {
            let journal = events(&journals[row["trial"].as_str().unwrap()]);
            let of = |event: &str| {
                let same = |line: &&Json| line["event"] == event && line["evaluation"] == row["evaluation"];
                journal.iter().find(same).unwrap().clone()
            };
            let (point, value) = (of("evaluating")["point"].clone(), of("evaluated")["value"].clone());
            for (i, variable) in variables.iter().enumerate() {
                let level = point[i].as_u64().unwrap() as usize;
                let column = format!("x.{}", variable["name"].as_str().unwrap());
                assert_eq!(row[&column], variable["levels"][level], "{column}");
            }
            assert_eq!(from_hex(exact.as_str().unwrap()).to_bits(), value.as_f64().unwrap().to_bits());
            assert_eq!(row["seed"], journal[0]["seed"]);
            assert_eq!(row["penalty.l1"].as_f64(), journal[0]["sweep"]["penalty.l1"].as_f64());
            let swept = journal[0]["sweep"].get("methods.swept.solver").and_then(Json::as_str);
            assert_eq!(row["methods.swept.solver"].as_str().filter(|text| !text.is_empty()), swept);
        }
    }
    let types = [&readers[0]["types"], &readers[1]["types"]];
    assert_eq!([&types[0]["value"], &types[1]["value"]], ["float64", "Float64"]);
    let first = format!("x.{}", variables[0]["name"].as_str().unwrap());
    assert_eq!([&types[1][&first], &types[1]["trial"]], ["String", "String"]);
}

/// A number as Python writes it exactly: `-0x1.8p+1`.
fn from_hex(text: &str) -> f64 {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let (mantissa, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, digits) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let bits = u64::from_str_radix(&format!("{whole}{digits}"), 16).unwrap();
    // At most 53 bits, and a power of two: both steps are exact.
    let scale = exponent.parse::<i32>().unwrap() - 4 * digits.len() as i32;
    sign * libm::ldexp(bits as f64, scale)
}
