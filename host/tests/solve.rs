//! Problems from files, through the command line.

use std::path::Path;
use std::process::{Output, Stdio};

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::support::{command, host, output};

/// The files of [`problems`], their bits, and their lowest values, which are proven.
const KNOWN: [(&str, u64, f64); 7] = [
    ("bqp_n010_1.json", 10, -10.610689802424993),
    ("labs_n013_0.json", 13, -3.6190333133759784),
    ("contamination_n021_1.json", 21, 17.46423994055811),
    ("ising_n024_0.json", 24, -5.3820894834956166),
    ("glover_n020_1.sparse", 20, -125.0),
    ("uniform_n050_3.sparse", 50, -5493.0),
    ("uniform_n100_1.sparse", 100, -11306.0),
];

/// One problem, −x₀ + 2x₁ + x₂ − 6x₀x₁ + 4x₁x₂, in every format: lowest at 110 with −5.
const SAME: [(&str, &str); 8] = [
    ("own.json", r#"{"n": 3, "constant": 0, "linear": [-1, 2, 1], "pairs": [-6, 0, 4]}"#),
    ("biq-mac.sparse", "3 5\n1 1 -1\n2 2 2\n3 3 1\n1 2 -3\n2 3 2\n"),
    ("qbsolv.qubo", "c a comment\np qubo 0 3 3 2\n0 0 -1\n1 1 2\n2 2 1\n0 1 -6\n1 2 4\n"),
    (
        "dimod.coo",
        "# vartype=BINARY\n0 0 -1.000000\n0 1 -6.000000\n1 1 2.000000\n1 2 4.000000\n2 2 1.000000\n",
    ),
    ("without-header.COO", "2 2 1\n1 0 -6\n0 0 -1\n2 1 4\n1 1 2\n"),
    // x = (1 + s) / 2; a file of spins has no constant, which is 0.5 here.
    ("spins.coo", "# vartype=SPIN\n0 0 -2\n1 1 0.5\n2 2 1.5\n0 1 -1.5\n1 2 1\n"),
    (
        "dimod.json",
        r#"{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0"}, "use_bytes": false,
            "index_type": "uint16", "bias_type": "float32", "num_variables": 3, "num_interactions": 2,
            "variable_labels": ["a", "b", "c"], "variable_type": "BINARY", "offset": 0.0, "info": {},
            "linear_biases": [-1.0, 2.0, 1.0], "quadratic_biases": [-6.0, 4.0],
            "quadratic_head": [0, 1], "quadratic_tail": [1, 2]}"#,
    ),
    (
        "dimod-spins.json",
        r#"{"variable_type": "SPIN", "type": "BinaryQuadraticModel", "num_variables": 3, "offset": 0.5,
            "linear_biases": [-2.0, 0.5, 1.5], "quadratic_biases": [-1.5, 1.0], "quadratic_head": [0, 1],
            "quadratic_tail": [1, 2]}"#,
    ),
];

/// Runs `host solve` in a folder with these files.
fn solve_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = command(&[&["solve"], arguments].concat());
    command.current_dir(folder).stdin(Stdio::null()).output().expect("host runs")
}

fn with_files<T: AsRef<[u8]>>(files: &[(&str, T)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// A folder with the files of [`KNOWN`]: those of `tests/data`, and acquisition functions that the solvers' tests share,
/// each as a file in our format.
fn problems() -> tempfile::TempDir {
    let read = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::read_to_string(path).expect("a file of the repository")
    };
    let stored = read("../plugins/shared/golden-afo/data/problems.jsonl");
    let function = |name: &str| {
        let start = format!("{{\"name\":\"{name}\",");
        let line = stored.lines().find(|line| line.starts_with(&start)).expect("a stored problem");
        serde_json::from_str::<Json>(line).expect("a line of JSON")["function"].to_string()
    };
    let text = |(file, ..): (&'static str, u64, f64)| match file.strip_suffix(".json") {
        Some(name) => (file, function(name)),
        None => (file, read(&format!("tests/data/{file}"))),
    };
    with_files(&KNOWN.map(text))
}

/// What a person sees, without times and the widths of columns, which depend on them.
fn seen(output: &Output) -> String {
    let mut seen = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat();
    for (pattern, replacement) in [("─+", "─"), (r"\d+\.\d+ (µs|ms|s)\b", "[time]"), (r"(\S) {2,}", "$1 ")]
    {
        seen = regex::Regex::new(pattern).expect("a pattern").replace_all(&seen, replacement).into_owned();
    }
    match output.status.code() {
        Some(0) => seen,
        code => format!("{seen}[exit code {code:?}]\n"),
    }
}

fn rows(output: &Output) -> Vec<Json> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Snapshots the refusal of a file with a mistake in it.
macro_rules! refused {
    ($name:ident: $file:expr => $text:expr) => {
        #[test]
        fn $name() {
            let _snapshots = snapshots::in_folder("solve");
            let output = solve_in(with_files(&[($file, $text)]).path(), &[$file, "--json"]);
            assert_eq!(output.status.code(), Some(2));
            assert!(output.stdout.is_empty());
            assert_snapshot!(stringify!($name), String::from_utf8_lossy(&output.stderr));
        }
    };
}

refused!(an_unknown_extension_lists_the_known_ones: "f.txt" => "1 0\n");
refused!(no_extension_lists_the_known_ones: "f" => "1 0\n");

refused!(an_empty_json_file_is_refused: "f.json" => "");
refused!(what_is_no_json_has_its_place: "f.json" => "{\n  \"n\": 1,\n  \"linear\": [1}\n");
refused!(json_that_ends_early_is_refused: "f.json" => "{\"n\": 2, \"linear\": [1, 2]");
refused!(a_nan_in_json_is_refused: "f.json" => "{\"n\": 1, \"linear\": [NaN], \"pairs\": []}");
refused!(an_infinity_in_json_is_refused: "f.json" => "{\"n\": 1, \"linear\": [-Infinity], \"pairs\": []}");
refused!(an_overflow_in_json_is_refused: "f.json" => "{\"n\": 1, \"linear\": [1e999], \"pairs\": []}");
refused!(a_text_in_json_is_refused: "f.json" => "{\"n\": 1, \"linear\": [\"one\"], \"pairs\": []}");
refused!(a_list_is_no_problem: "f.json" => "[1, 2, 3]");
refused!(a_wrong_number_of_pairs_is_refused: "f.json" => "{\"n\": 3,\n\"linear\": [1, 2, 3],\n\"pairs\": [1, 2]}");
refused!(a_missing_key_is_named: "f.json" => "{\"n\": 2, \"linear\": [1, 2]}");
refused!(an_unknown_key_is_named: "f.json" => "{\"n\": 2, \"liner\": [1, 2], \"pairs\": [3]}");
refused!(a_key_twice_is_refused: "f.json" => "{\"n\": 2, \"linear\": [1, 2], \"pairs\": [3], \"n\": 2}");
refused!(what_follows_the_json_is_refused: "f.json" => "{\"linear\": [1, 2], \"pairs\": [3]}\nx");
refused!(huge_json_is_refused_at_its_n: "f.json" => "{\"n\": 1000000000, \"linear\": []}");
refused!(a_model_in_bytes_is_refused: "f.json" => "{\"type\": \"BinaryQuadraticModel\", \"use_bytes\": true}");
refused!(a_model_without_its_biases_is_refused: "f.json" => "{\"type\": \"BinaryQuadraticModel\", \"variable_type\": \"SPIN\", \"num_variables\": 2}");

refused!(an_empty_sparse_file_is_refused: "f.sparse" => "\n\n");
refused!(a_sparse_file_needs_its_header: "f.sparse" => "1 2 3\n2 3 4\n");
refused!(fewer_entries_than_the_header_says_are_refused: "f.sparse" => "3 3\n1 2 3\n2 3 4\n");
refused!(more_entries_than_the_header_says_are_refused: "f.sparse" => "3 1\n1 2 3\n2 3 4\n");
refused!(an_index_below_the_first_is_refused: "f.sparse" => "3 1\n0 2 3\n");
refused!(an_index_beyond_the_last_is_refused: "f.sparse" => "3 1\n2 4 3\n");
refused!(a_negative_index_is_refused: "f.sparse" => "3 1\n-2 3 3\n");
refused!(a_pair_twice_is_refused: "f.sparse" => "3 3\n1 2 3\n1 3 3\n1 2 3\n");
refused!(a_pair_in_both_orders_is_refused: "f.sparse" => "3 2\n1 2 3\n2 1 3\n");
refused!(a_nan_is_refused: "f.sparse" => "3 1\n1 2 nan\n");
refused!(an_infinity_is_refused: "f.sparse" => "3 1\n1 2 -inf\n");
refused!(an_overflow_is_refused: "f.sparse" => "3 1\n1 2 1e400\n");
refused!(an_overflow_by_doubling_is_refused: "f.sparse" => "3 1\n1 2 1e308\n");
refused!(a_sum_that_overflows_is_refused: "f.sparse" => "2 2\n1 1 1e308\n2 2 1e308\n");
refused!(a_word_too_many_is_refused: "f.sparse" => "3 1\n1 2 3 4\n");
refused!(a_word_too_few_is_refused: "f.sparse" => "3 1\n1 2\n");
refused!(a_word_that_is_no_number_is_refused: "f.sparse" => "3 1\n1 2 three\n");
refused!(a_huge_problem_is_refused: "f.sparse" => "10001 0\n");
refused!(a_problem_too_large_for_any_number_is_refused: "f.sparse" => "123456789012345678901234567890123456789 0\n");
refused!(a_problem_without_bits_is_refused: "f.sparse" => "0 0\n");
refused!(bytes_are_no_text: "f.sparse" => b"3 1\n1 2 \xff\xfe\n");

refused!(an_empty_qubo_file_is_refused: "f.qubo" => "c nothing\n");
refused!(a_qubo_file_needs_its_header: "f.qubo" => "c nodes\n0 0 1\n");
refused!(another_kind_of_program_is_refused: "f.qubo" => "p cnf 3 2\n");
refused!(a_short_header_is_refused: "f.qubo" => "p qubo 0 3 3\n0 0 1\n");
refused!(fewer_couplers_than_the_header_says_are_refused: "f.qubo" => "p qubo 0 2 1 1\n0 0 1\n");
refused!(more_nodes_than_the_header_says_are_refused: "f.qubo" => "p qubo 0 2 1 1\n0 0 1\n1 1 1\n");
refused!(a_coupler_the_wrong_way_round_is_refused: "f.qubo" => "p qubo 0 2 0 1\n1 0 1\n");
refused!(a_node_beyond_the_last_is_refused: "f.qubo" => "p qubo 0 2 1 0\n2 2 1\n");
refused!(a_node_twice_is_refused: "f.qubo" => "p qubo 0 2 2 0\n1 1 1\n1 1 2\n");

refused!(an_empty_coo_file_is_refused: "f.coo" => "# vartype=BINARY\n");
refused!(an_unknown_vartype_is_refused: "f.coo" => "# vartype=INTEGER\n0 0 1\n");
refused!(a_huge_index_is_refused: "f.coo" => "0 0 1\n0 99999999 1\n");
refused!(a_term_twice_is_refused: "f.coo" => "0 0 1\n0 1 1\n  1 0 1\n");
refused!(spins_that_overflow_as_bits_are_refused: "f.coo" => "# vartype=SPIN\n0 1 1e308\n");

#[test]
fn every_mistake_is_reported_before_anything_is_solved() {
    let _snapshots = snapshots::in_folder("solve");
    let folder = with_files(&[("good.coo", "0 0 1\n"), ("bad.coo", "0 0\n"), ("worse.sparse", "1 x\n")]);
    let files = ["good.coo", "bad.coo", "missing.json", "worse.sparse"];
    let solvers =
        ["--solver", "prs", "--solver", "psr[stpes=3]", "--solver", "psr[steps=.nan]", "--solver", "[]"];
    let output = solve_in(folder.path(), &[&files[..], &solvers].concat());
    assert!(output.stdout.is_empty());
    assert_snapshot!(seen(&output));
}

#[test]
fn help_describes_formats_and_gap() {
    let _snapshots = snapshots::in_folder("solve");
    assert_snapshot!("help solve", host(&["solve", "--help"], ""));
}

#[test]
fn wrong_arguments_are_refused() {
    for wrong in [
        &[][..],
        &["f.coo", "--time-limit", "-1"],
        &["f.coo", "--time-limit", "nan"],
        &["f.coo", "--seed", "x"],
    ] {
        let output = solve_in(with_files(&[("f.coo", "0 0 1\n")]).path(), wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn the_same_problem_in_any_format_has_the_same_answer() {
    let folder = with_files(&SAME);
    let files = SAME.map(|(name, _)| name);
    let output = solve_in(folder.path(), &[&files[..], &["--json", "--solver", "exhaustive"]].concat());
    let rows = rows(&output);
    assert_eq!(rows.len(), SAME.len());
    for (row, file) in rows.iter().zip(files) {
        let constant = if file == "spins.coo" { 0.5 } else { 0.0 };
        assert_eq!(row["file"], file);
        assert_eq!(row["bits"], "110", "{file}");
        assert_eq!(row["value"], -5.0 - constant, "{file}");
        assert_eq!((&row["bound"], &row["gap"]), (&row["value"], &Json::from(0.0)), "{file}");
    }
}

#[test]
fn known_minima_are_found() {
    let mut arguments: Vec<&str> = KNOWN.iter().map(|(file, ..)| *file).collect();
    arguments.extend(["--json", "--solver", "annealing", "--solver", "psr", "--solver", "sdp"]);
    let output = solve_in(problems().path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = rows(&output);
    assert_eq!(rows.len(), 3 * KNOWN.len());
    for (rows, (file, n, lowest)) in rows.chunks(3).zip(KNOWN) {
        let tolerance = 1e-9 * lowest.abs();
        for row in rows {
            let (value, bound) = (row["value"].as_f64().unwrap(), row["bound"].as_f64());
            assert_eq!((row["file"].as_str(), row["n"].as_u64()), (Some(file), Some(n)));
            assert_eq!(row["bits"].as_str().unwrap().len(), n as usize);
            assert!(value >= lowest - tolerance && bound.unwrap_or(lowest) <= lowest + tolerance, "{row}");
        }
        assert_eq!(rows[0]["solver"], "annealing");
        assert!(rows[0]["value"].as_f64().unwrap() <= lowest + tolerance, "{}", rows[0]);
    }
}

#[test]
fn enumeration_proves_the_minima_of_few_bits() {
    let small = KNOWN.iter().filter(|(_, n, _)| *n <= 25);
    let mut arguments: Vec<&str> = small.clone().map(|(file, ..)| *file).collect();
    arguments.extend(["--json", "--solver", "exhaustive"]);
    let rows = rows(&solve_in(problems().path(), &arguments));
    assert_eq!(rows.len(), 5);
    for (row, (_, n, lowest)) in rows.iter().zip(small) {
        assert!((row["value"].as_f64().unwrap() - lowest).abs() <= 1e-9 * lowest.abs(), "{row}");
        assert_eq!(row["gap"], 0.0);
        assert_eq!(row["counts"]["points"], 1_u64 << n);
    }
}

#[test]
fn a_table_compares_solvers() {
    let _snapshots = snapshots::in_folder("solve");
    let files = ["bqp_n010_1.json", "uniform_n050_3.sparse"];
    let solvers = ["--solver", "psr[steps=3,polish=none]", "--solver", "sdp", "--solver", "annealing"];
    assert_snapshot!(seen(&solve_in(problems().path(), &[&files[..], &solvers].concat())));
}

#[test]
fn json_has_a_line_for_each_file_and_solver() {
    let _snapshots = snapshots::in_folder("solve");
    let arguments = [
        "labs_n013_0.json",
        "glover_n020_1.sparse",
        "--json",
        "--solver",
        "psr[steps=3]",
        "--solver",
        "exhaustive",
    ];
    let output = solve_in(problems().path(), &arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    let seconds = regex::Regex::new(r#""seconds":[0-9.e-]+"#).unwrap();
    assert_snapshot!(seconds.replace_all(&text, "\"seconds\":[seconds]"));
}

#[test]
fn a_solver_that_refuses_a_problem_does_not_stop_the_others() {
    let _snapshots = snapshots::in_folder("solve");
    let arguments =
        ["uniform_n100_1.sparse", "glover_n020_1.sparse", "--solver", "exhaustive", "--solver", "annealing"];
    let output = solve_in(problems().path(), &arguments);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(seen(&output));

    let output = solve_in(problems().path(), &[&arguments[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let rows = rows(&output);
    assert_eq!(rows.len(), 4);
    assert!(rows[0]["error"].as_str().unwrap().contains("max-points"), "{}", rows[0]);
    assert!(rows[0]["value"].is_null() && rows[0]["bits"].is_null());
    assert!(rows[1..].iter().all(|row| row["value"].is_number() && row.get("error").is_none()));
}

#[test]
fn without_a_solver_the_default_one_is_used() {
    let rows = rows(&solve_in(problems().path(), &["glover_n020_1.sparse", "--json"]));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["solver"], "certified");
}

#[test]
fn limits_are_passed_on_and_told() {
    let _snapshots = snapshots::in_folder("solve");
    let solver = ["--solver", "annealing", "--solver", "psr"];
    let limited = |limit: &[&str]| {
        solve_in(problems().path(), &[&["uniform_n050_3.sparse"], &solver[..], limit].concat())
    };
    assert_snapshot!("a work limit is told", seen(&limited(&["--work-limit", "2"])));
    let rows = |limit: [&str; 2]| rows(&limited(&[&["--json"], &limit[..]].concat()));
    for row in rows(["--work-limit", "2"]) {
        assert_eq!(row["stop"], "work", "{row}");
    }
    for row in rows(["--time-limit", "0"]) {
        assert_eq!(row["stop"], "time", "{row}");
    }
    for row in rows(["--time-limit", "1e9"]) {
        assert!(row.get("stop").is_none(), "{row}");
    }
}

/// A bound once took minutes here, whatever the limit was; a minute is far beyond what a busy machine needs.
#[test]
fn a_time_limit_is_kept_at_thousands_of_bits() {
    let folder = tempfile::tempdir().unwrap();
    // No bit's value is evident: each is in six terms of both signs.
    let terms = (0..6000).flat_map(|i| [1, 700, 2900].map(|step| (i, (i + step) % 6000)));
    let value = |(i, j): (usize, usize)| if (i * 7 + j * 3) % 5 < 2 { -1.0 - (i % 9) as f64 } else { 2.5 };
    let lines = terms.map(|(i, j)| format!("{i} {j} {}\n", value((i, j))));
    std::fs::write(folder.path().join("large.coo"), lines.collect::<String>()).unwrap();
    std::fs::write(folder.path().join("one.coo"), "0 5999 -1\n").unwrap();
    let begun = std::time::Instant::now();
    let solved = |files: &[&str], limit: &str| {
        let output = solve_in(folder.path(), &[files, &["--json", "--time-limit", limit]].concat());
        assert_eq!(output.status.code(), Some(0));
        rows(&output)
    };
    let both = solved(&["large.coo", "one.coo"], "1");
    assert_eq!((both.len(), both[0]["stop"].as_str()), (2, Some("time")), "and the next one has its turn");
    // Nothing to search for, but as many bits: a busy machine takes more than a second to begin.
    assert_eq!(solved(&["one.coo"], "30")[0]["value"], -1.0);
    assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn the_same_seed_gives_the_same_answer_and_another_may_not() {
    let bits = |seed| {
        let hasty = "annealing[sweeps=1,restarts=1]";
        let arguments = ["uniform_n100_1.sparse", "--json", "--solver", hasty, "--seed", seed];
        rows(&solve_in(problems().path(), &arguments))[0]["bits"].as_str().unwrap().to_owned()
    };
    assert_eq!(bits("1"), bits("1"));
    assert_ne!(bits("1"), bits("2"));
}

#[test]
fn a_problem_comes_from_the_standard_input() {
    let text = std::fs::read_to_string(problems().path().join("bqp_n010_1.json")).unwrap();
    let solved = output(&["solve", "-", "--json", "--solver", "exhaustive"], &text);
    let rows = rows(&solved);
    assert_eq!((rows[0]["file"].as_str(), rows[0]["bits"].as_str()), (Some("-"), Some("0100111101")));
    let refused = host(&["solve", "-"], "{\"n\": 1}");
    assert!(refused.contains("--> <stdin>:1:8\n"), "{refused}");
}
