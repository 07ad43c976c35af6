//! Plugins in C: built with the system's compiler, checked, described, hashed and run like all others.

use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use plugin_api::load::Plugin;
use plugin_api::{Benchmark, Kind, Point, Problem, Solver};
use serde_json::json;

use crate::support::{self, workspace};

/// Compiles a plugin with every warning as an error; `None`, and a word about it, where there is no compiler.
fn compile(source: &Path, kind: Kind, name: &str, folder: &Path) -> Option<PathBuf> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let path = folder.join(kind.file_name(name));
    let flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I"];
    let built = Command::new(&compiler)
        .args(flags)
        .arg(workspace().join("plugin-api/include"))
        .arg(source)
        .arg("-o")
        .arg(&path)
        .output();
    match built {
        Ok(built) => {
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            Some(path)
        }
        Err(error) => {
            eprintln!("skipped: there is no C compiler `{compiler}` here: {error}");
            None
        }
    }
}

fn example(kind: Kind, name: &str, folder: &Path) -> Option<PathBuf> {
    compile(&workspace().join(format!("plugins/c/{name}.c")), kind, name, folder)
}

#[test]
fn the_examples_keep_every_promise_and_run_together() {
    let _snapshots = snapshots::in_folder("runs");
    let folder = tempfile::tempdir().unwrap();
    let Some(knapsack) = example(Kind::Benchmark, "knapsack", folder.path()) else { return };
    let descent = example(Kind::Solver, "descent", folder.path()).unwrap();
    for path in [&knapsack, &descent] {
        let output = support::output(&["plugins", "check", path.to_str().unwrap()], "");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let (plugins, results) = (folder.path().to_str().unwrap(), folder.path().join("results"));
    let described = support::host(&["plugins", "describe", "knapsack", "--plugin-dir", plugins], "");
    assert_snapshot!("a plugin in C described", described);
    let manifest = "name: c\nbudget: { initial: 8, evaluations: 12 }\nbenchmark: { use: knapsack, options: { limit: 6 } }\n\
        surrogate: horseshoe\nsolver: { use: descent, options: { restarts: 5 } }\n";
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--plugin-dir", plugins, "--output"];
    let run = support::output(&[&arguments[..], &[results.to_str().unwrap()]].concat(), manifest);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let journal = std::fs::read_to_string(results.join("c/r/trials/descent-seed1/journal.jsonl")).unwrap();
    assert!(journal.contains("the knapsack tears") && journal.contains("\"finished\""), "{journal}");
    let identity = std::fs::read_to_string(results.join("c/r/identity.json")).unwrap();
    assert!(identity.contains("libbenchmark_knapsack") || identity.contains("knapsack"), "{identity}");
    // Options are refused as those of any plugin, by limits and by the plugin itself.
    let refused = |options: &str| {
        let manifest = manifest.replace("limit: 6", options);
        support::host(&["plan", "-", "--plugin-dir", plugins], &manifest)
    };
    let told = ["limit: -1", "values: [1, 2]", "colour: red"].map(refused).join("\n");
    assert_snapshot!("a plugin in C refuses its options", told);
}

#[test]
fn values_of_a_plugin_in_c_are_those_of_its_formula() {
    let folder = tempfile::tempdir().unwrap();
    let Some(knapsack) = example(Kind::Benchmark, "knapsack", folder.path()) else { return };
    let descent = example(Kind::Solver, "descent", folder.path()).unwrap();
    let plugin = Plugin::load_kind(&knapsack, Kind::Benchmark).unwrap_or_else(|error| panic!("{error}"));
    let mut benchmark =
        plugin.benchmark(&json!({ "weights": [1, 2.5, 4], "values": [1, 10, 100], "limit": 5 }), 1).unwrap();
    let mut value = |levels: [u32; 3]| benchmark.evaluate(&Point::from(levels.to_vec()), 1).unwrap();
    assert_eq!(value([1, 0, 1]).value(), Some(101.0));
    assert_eq!(value([0, 0, 0]).value(), Some(0.0));
    assert_eq!(value([0, 1, 1]).value(), Some(95.0));
    let mut light =
        plugin.benchmark(&json!({ "weights": [1, 2.5, 4], "values": [1, 10, 100], "limit": 3 }), 1).unwrap();
    let torn = light.evaluate(&Point::from(vec![1, 1, 1]), 1).unwrap();
    assert_eq!(format!("{torn:?}"), "Infeasible(\"at 7.5 the knapsack tears\")");
    assert!(
        benchmark.evaluate(&Point::from(vec![0, 0]), 1).is_err(),
        "a point that is too short never reaches C"
    );
    assert!(plugin.encoder(&json!({}), &plugin_api::Space::binary(2)).is_err());
    let solver = Plugin::load_kind(&descent, Kind::Solver).unwrap_or_else(|error| panic!("{error}"));
    let mut solver = solver.solver(&json!({})).unwrap();
    let quadratic = plugin_api::testing::random_quadratic(&mut plugin_api::rng(3), 10);
    let problem = Problem::new(quadratic);
    let answer = solver.minimize(&problem, 1).unwrap();
    let least = plugin_api::testing::minimum(&problem);
    assert!((answer.value() - least).abs() < 1e-9, "{} and {least}", answer.value());
    assert_eq!(answer.counts(), [("steps".to_owned(), 20)]);
}

#[test]
fn a_table_that_cannot_be_used_is_refused_in_words() {
    let _snapshots = snapshots::in_folder("cli");
    let folder = tempfile::tempdir().unwrap();
    let fields = |version: &str, more: &str| {
        format!(
            "#include \"host_plugin.h\"\nstatic int create(const char *o, uint64_t s, void **i, host_error *e) \
             {{ (void)o, (void)s, (void)i; return host_fail(e, \"no\"); }}\n\
             static const host_plugin PLUGIN = {{ .version = {version}, .name = \"x\", .summary = \"x\", .plugin_version = \"1\", \
             .create = create, {more} }};\n\
             HOST_PLUGIN_EXPORT const host_plugin *host_plugin_entry(void) {{ return &PLUGIN; }}\n"
        )
    };
    let size = ".size = sizeof(host_plugin)";
    let cases = [
        ("version", fields("7", ".kind = \"solver\"")),
        ("size", fields("1", ".kind = \"solver\", .size = 40")),
        ("kind", fields("1", &format!("{size}, .kind = \"surrogate\""))),
        ("function", fields("1", &format!("{size}, .kind = \"benchmark\""))),
        (
            "options",
            fields(
                "1",
                &format!("{size}, .kind = \"solver\", .minimize = (void *)create, .options = \"{{\""),
            ),
        ),
        (
            "default",
            fields(
                "1",
                &format!(
                    "{size}, .kind = \"solver\", .minimize = (void *)create, .options = \"{{\\\"properties\\\": {{\\\"a\\\": {{}}}}}}\""
                ),
            ),
        ),
    ];
    let mut told = String::new();
    for (name, text) in cases {
        let source = folder.path().join(format!("{name}.c"));
        std::fs::write(&source, text).unwrap();
        let Some(path) = compile(&source, Kind::Solver, name, folder.path()) else { return };
        let error = Plugin::load(&path).err().unwrap().to_string();
        told += &format!(
            "{}\n",
            error.replace(folder.path().canonicalize().unwrap().to_str().unwrap(), "[folder]")
        );
    }
    let bytes = regex::Regex::new(r"and \d+ are needed").unwrap();
    assert_snapshot!(
        "tables of plugins in C that are refused",
        bytes.replace_all(&told, "and [number] are needed")
    );
}

/// A benchmark with these bodies of `space` and `evaluate`.
fn lying(space: &str, evaluate: &str) -> String {
    format!(
        "#include \"host_plugin.h\"\n\
         static int create(const char *o, uint64_t s, void **i, host_error *e) {{ (void)o, (void)s, (void)i, (void)e; return 0; }}\n\
         static int space(void *i, host_space *s, host_error *e) {{\n\
         static const char *const L[] = {{ \"a\", \"b\", 0 }}; (void)i, (void)e, (void)s, (void)L; {space} return 0; }}\n\
         static int evaluate(void *i, const uint32_t *l, size_t n, uint64_t s, double *v, host_error *e) {{\n\
         (void)i, (void)l, (void)n, (void)s, (void)v, (void)e; {evaluate} }}\n\
         static const host_plugin PLUGIN = {{ .version = 1, .size = sizeof(host_plugin), .kind = \"benchmark\", .name = \"x\", \
         .summary = \"x\", .plugin_version = \"1\", .create = create, .space = space, .evaluate = evaluate }};\n\
         HOST_PLUGIN_EXPORT const host_plugin *host_plugin_entry(void) {{ return &PLUGIN; }}\n"
    )
}

#[test]
fn what_a_plugin_in_c_says_of_itself_and_its_values_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let two = "s->variable(s, \"x\", L, 2, 0); s->variable(s, \"y\", L, 2, 0);";
    let with = |rule: &str| format!("{two} s->constraint(s, {rule});");
    let cases = [
        (String::new(), "return 0;", "at least one variable"),
        ("s->variable(s, \"x\", L, 0, 0);".to_owned(), "return 0;", "needs at least one level"),
        ("s->variable(s, 0, L, 2, 0);".to_owned(), "return 0;", "without a name or levels"),
        ("s->variable(s, \"x\", 0, 2, 0);".to_owned(), "return 0;", "without a name or levels"),
        ("s->variable(s, \"x\", L, 90000000, 0);".to_owned(), "return 0;", "level 2 of variable `x` is NULL"),
        (two.replace('y', "x"), "return 0;", "two variables are named `x`"),
        (with("\"{\""), "return 0;", "is no constraint"),
        (with("0"), "return 0;", "is no constraint"),
        (
            with(r#""{\"fixed\": {\"index\": 9, \"level\": 1}}""#),
            "return 0;",
            "9 is beyond the 2 that there are",
        ),
        (two.to_owned(), "return 0;", "the value is NaN"),
        (two.to_owned(), "*v = INFINITY; return 0;", "the value is inf"),
        (two.to_owned(), "memset(e->message, 65, e->message_size); return 1;", "AAAA"),
        (
            two.to_owned(),
            "e->message = (char *)1; e->message_size = 1u << 30; return 1;",
            "the code 1 without",
        ),
        (two.to_owned(), "return -77;", "the code -77 without a reason"),
    ];
    for (i, (space, evaluate, told)) in cases.into_iter().enumerate() {
        let (name, source) = (format!("lie{i}"), folder.path().join(format!("lie{i}.c")));
        std::fs::write(&source, lying(&space, evaluate)).unwrap();
        let Some(path) = compile(&source, Kind::Benchmark, &name, folder.path()) else { return };
        let plugin = Plugin::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let said = plugin.benchmark(&json!({}), 1).and_then(|mut benchmark| {
            benchmark.space()?;
            benchmark.evaluate(&Point::from(vec![0, 1]), 1)
        });
        let said = said.map_or_else(
            |error| error.to_string(),
            |ended| format!("the value is {}", ended.value().unwrap_or(0.0)),
        );
        assert!(said.contains(told), "{told}: {said}");
    }
}
