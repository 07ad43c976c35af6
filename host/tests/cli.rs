//! What a person sees: help, plans, plugins, errors, exit codes.

use insta::assert_snapshot;

use crate::support::{self, SMALLEST, host};

/// Snapshots a refusal of a changed smallest manifest.
macro_rules! refused {
    ($(#[$meta:meta])* $name:ident: $from:expr => $to:expr) => {
        $(#[$meta])*
        #[test]
        fn $name() {
            let _snapshots = snapshots::in_folder("cli");
            let manifest = SMALLEST.replace($from, $to);
            assert_ne!(manifest, SMALLEST, "the mistake is in it");
            let seen = host(&["plan", "-"], &manifest);
            assert!(seen.ends_with("[exit code Some(2)]\n"), "{seen}");
            assert_snapshot!(stringify!($name), seen);
        }
    };
}

refused!(a_misspelt_solver_names_the_nearest_one: "annealing" => "anealing");
refused!(an_unknown_benchmark_says_where_it_was_searched: "labs" => "tetris");
refused!(a_misspelt_key_names_the_nearest_one: "budget" => "bugdet");
refused!(a_refused_option_has_its_place: "n: 6" => "n: 1");
refused!(an_option_of_the_wrong_type_has_its_place: "n: 6" => "n: six");
refused!(an_unknown_option_is_named: "n: 6" => "m: 6");
refused!(a_duplicate_key_is_found: "surrogate: random" => "surrogate: random\nname: again");
refused!(a_budget_of_nothing_is_refused: "evaluations: 2" => "evaluations: 0");
refused!(a_negative_budget_is_refused: "evaluations: 2" => "evaluations: -2");
refused!(more_initial_points_than_the_space_has_are_refused: "initial: 3" => "initial: 65");
refused!(a_nan_is_refused: "solver: annealing" => "solver: annealing\npenalty: { l1: .nan }");
refused!(a_nan_option_is_refused: "n: 6" => "n: .nan");
refused!(a_missing_benchmark_is_named: "benchmark: { use: labs, options: { n: 6 } }\n" => "");
refused!(no_method_under_methods_is_refused: "surrogate: random\nsolver: annealing\n" => "methods: {}\n");
refused!(a_solver_beside_methods_is_refused: "solver: annealing" => "solver: annealing\nmethods: { a: { surrogate: random, solver: annealing } }");
refused!(an_encoder_that_does_not_fit_is_refused: "benchmark: { use: labs, options: { n: 6 } }" => "benchmark: pest-control\nencoder: binary");
refused!(a_sweep_to_nowhere_is_refused: "solver: annealing" => "solver: annealing\nsweep: { penalty.l2: [1], budget.initial.first: [2] }");
refused!(a_sweep_with_a_wrong_value_points_at_the_value: "solver: annealing" => "solver: annealing\nsweep: { benchmark.options.n: [6, 1] }");
refused!(a_sweep_without_values_is_refused: "solver: annealing" => "solver: annealing\nsweep: { penalty.l1: [], budget.initial: 3 }");
refused!(a_name_that_leaves_the_results_is_refused: "name: smallest" => "name: ../../smallest");
refused!(a_seed_twice_is_refused: "solver: annealing" => "solver: annealing\nseeds: [1, 2, 1]");
refused!(a_seed_below_zero_is_refused: "solver: annealing" => "solver: annealing\nseeds: [1, -1, 2.5, x]");
refused!(a_plugin_that_is_no_file_is_refused: "annealing" => "./README.md");
refused!(a_plugin_of_another_kind_is_not_found: "solver: annealing" => "solver: random");
refused!(what_is_no_yaml_has_its_place: "budget: {" => "budget: [");
refused!(a_tab_is_named: "budget: { initial: 3, evaluations: 2 }" => "budget:\n\tinitial: 3\n\tevaluations: 2");
refused!(a_script_is_no_plugin: "benchmark: { use: labs, options: { n: 6 } }" => "benchmark: ./filters.py");
refused!(a_bound_that_no_point_keeps_has_a_hint: "solver: annealing" => "solver: annealing\nconstraints: [{ at-least: 9, of: all }, { at-most: five, of: all }]");
refused!(a_missing_number_of_evaluations_is_named: ", evaluations: 2" => "");
refused!(a_list_is_no_manifest: SMALLEST => "- name: smallest");
refused!(an_empty_file_is_no_manifest: SMALLEST => "");
refused!(
    all_mistakes_are_reported_at_once:
    SMALLEST => "nmae: smallest\nbudget: { initial: 0, evaluations: 2 }\nbenchmark: { use: labs, options: { n: 1 } }\nsurrogate: rnadom\nsolver: annaeling\n"
);

#[test]
fn what_a_manifest_does_not_name_is_chosen_to_fit_the_rest() {
    let _snapshots = snapshots::in_folder("cli");
    let named = "surrogate: random\nsolver: annealing\n";
    for (what, method) in [
        ("neither surrogate nor solver", ""),
        ("a solver of quadratic functions alone", "solver: psr\n"),
        ("a solver of any function alone", "solver: annealing\n"),
        ("a surrogate of quadratic functions alone", "surrogate: mercer\n"),
        ("a surrogate of any function alone", "surrogate: heat\n"),
    ] {
        let plan = host(&["plan", "-"], &SMALLEST.replace(named, method));
        assert_snapshot!(what, plan);
        // The plan is a manifest, and plans the same.
        let (yaml, trials) = plan.split_once("\ntrial ").unwrap();
        let again = host(&["plan", "-"], yaml);
        assert!(again.ends_with(&format!("\ntrial {trials}")), "{again}");
    }
}

#[test]
fn what_is_asked_for_in_another_way_is_told() {
    let _snapshots = snapshots::in_folder("cli");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("filters.py"), "import workbench\n").unwrap();
    let seen = |words: &[&str]| host(words, "").replace(folder.path().to_str().unwrap(), "[folder]");
    let mut told = seen(&["run", &path("filters.py")]);
    told += &seen(&["run", "mine.yaml", "--seed", "3"]);
    told += &seen(&["run", "--resume", &path("results/x/zzz")]);
    for run in ["results/x/one", "results/x/two"] {
        std::fs::create_dir_all(path(run)).unwrap();
        std::fs::write(path(&format!("{run}/plan.yaml")), "").unwrap();
    }
    told += &seen(&["run", "--resume", &path("results/x/zzz")]);
    assert_snapshot!(told);
}

#[test]
fn help_teaches() {
    let _snapshots = snapshots::in_folder("cli");
    for words in [
        &[][..],
        &["run"],
        &["merge"],
        &["plan"],
        &["plugins"],
        &["plugins", "list"],
        &["plugins", "describe"],
        &["plugins", "new"],
        &["plugins", "check"],
        &["schema"],
        &["doctor"],
        &["completions"],
    ] {
        let arguments = [words, &["--help"]].concat();
        assert_snapshot!(format!("help {}", words.join(" ")).trim(), host(&arguments, ""));
    }
}

#[test]
fn an_unknown_command_exits_with_2() {
    let _snapshots = snapshots::in_folder("cli");
    assert_snapshot!(host(&["rnu", "x.yaml"], ""));
}

#[test]
fn a_missing_file_is_named() {
    let _snapshots = snapshots::in_folder("cli");
    assert_snapshot!(host(&["run", "experiments/nothing.yaml"], ""));
}

#[test]
fn wrong_arguments_are_named_with_the_argument() {
    let _snapshots = snapshots::in_folder("cli");
    let arguments = ["plan", "-", "--set", "penalty.l2=1", "--set", "seeds", "--solver", "psr[stpes=3]"];
    assert_snapshot!(host(&arguments, SMALLEST));
}

/// A manifest whose sweep leads into one of its methods.
const SWEPT: &str = "\
name: swept
budget: { initial: 3, evaluations: 2 }
benchmark: { use: labs, options: { n: 6 } }
methods:
  psr: { surrogate: horseshoe, solver: psr }
  sdp: { surrogate: horseshoe, solver: sdp }
sweep: { methods.psr.solver.options.steps: [5, 10] }
";

#[test]
fn a_sweep_into_a_method_that_is_replaced_is_told_as_what_it_is() {
    let _snapshots = snapshots::in_folder("cli");
    assert_snapshot!(host(&["plan", "-", "--solver", "annealing"], SWEPT));
    let top = "solver: annealing\nsweep: { solver.options.sweeps: [5, 10] }";
    let top = SMALLEST.replace("solver: annealing", top);
    assert_snapshot!(
        "a sweep over the only method that is replaced",
        host(&["plan", "-", "--solver", "psr"], &top)
    );
    // What the hint says.
    let planned = host(&["plan", "-", "--solver", "annealing", "--set", "sweep=null"], SWEPT);
    assert!(planned.starts_with("# 1 trial;"), "{planned}");
}

#[test]
fn one_mistake_in_an_argument_is_one_message() {
    let _snapshots = snapshots::in_folder("cli");
    for (what, arguments) in [
        ("options that do not end", &["--solver", "psr[steps=10"][..]),
        ("an option without a value", &["--solver", "psr[steps]"]),
        ("an option in other words than YAML's", &["--solver", "psr[steps=abc]"]),
        ("the same solver twice", &["--solver", "psr", "--solver", "sdp", "--solver", "psr"]),
        ("the same surrogate twice", &["--surrogate", "random", "--surrogate", "random"]),
    ] {
        let seen = host(&[&["plan", "-"], arguments].concat(), SMALLEST);
        assert_eq!(seen.matches("error:").count(), 1, "{seen}");
        assert_snapshot!(what, seen);
    }
}

#[test]
fn a_budget_larger_than_the_space_is_told_in_the_plan_and_at_the_end() {
    let manifest = SMALLEST.replace("evaluations: 2", "evaluations: 62");
    let planned = host(&["plan", "-"], &manifest);
    let note = "# note: a budget of 65 evaluations is more than the 64 points of the space: a trial ends when all have been \
                evaluated\n";
    assert!(planned.contains(note), "{planned}");
    assert!(!host(&["plan", "-"], SMALLEST).contains("# note"));
    let results = tempfile::tempdir().unwrap();
    let arguments = ["run", "-", "--quiet", "--output", results.path().to_str().unwrap()];
    let seen = host(&arguments, &manifest);
    let note = "note: 1 trial ended before its budget was spent: every point had been evaluated\n";
    assert!(seen.contains(note), "{seen}");
    assert!(!host(&arguments, SMALLEST).contains("note: "));
    // Where values are noisy, a point is evaluated again.
    let noisy = "{ use: contamination, options: { stages: 5, samples: fresh } }";
    let planned = host(&["plan", "-"], &manifest.replace("{ use: labs, options: { n: 6 } }", noisy));
    assert!(planned.starts_with("# 1 trial") && !planned.contains("# note"), "{planned}");
}

#[test]
fn a_run_id_cannot_leave_the_results() {
    let _snapshots = snapshots::in_folder("cli");
    assert_snapshot!(host(&["run", "-", "--run-id", "../elsewhere"], SMALLEST));
}

#[test]
fn plugins_are_listed_by_kind() {
    let _snapshots = snapshots::in_folder("plugins");
    assert_snapshot!(host(&["plugins", "list"], ""));
}

#[test]
fn every_plugin_is_described() {
    let _snapshots = snapshots::in_folder("plugins");
    let list = host(&["plugins", "list", "--json"], "");
    let list: Vec<serde_json::Value> = serde_json::from_str(&list).unwrap();
    assert!(list.len() >= 14, "{}", list.len());
    let mut names: Vec<&str> = list.iter().map(|plugin| plugin["name"].as_str().unwrap()).collect();
    names.dedup();
    for name in names {
        assert_snapshot!(format!("describe {name}"), host(&["plugins", "describe", name], ""));
    }
}

#[test]
fn an_unknown_plugin_names_the_nearest_one() {
    let _snapshots = snapshots::in_folder("plugins");
    assert_snapshot!(host(&["plugins", "describe", "ishing"], ""));
}

#[test]
fn a_bare_name_is_never_taken_from_the_current_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = plugin_api::Kind::Solver.file_name("annealing");
    std::fs::copy(
        support::program_folder().join(&file),
        folder.path().join(plugin_api::Kind::Solver.file_name("mine")),
    )
    .unwrap();
    let manifest = folder.path().join("m.yaml");
    std::fs::write(&manifest, SMALLEST.replace("annealing", "mine")).unwrap();
    let mut command = support::command(&["plan", "m.yaml"]);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no solver named `mine`"));
    // By its folder it is found.
    let mut command = support::command(&["plan", "m.yaml", "--plugin-dir", "."]);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_folder_of_plugins_that_is_not_there_is_refused() {
    let words = host(&["plugins", "list", "--plugin-dir", "/nope"], "");
    assert!(words.contains("[exit code Some(2)]") && words.contains("/nope"), "{words}");
    assert!(words.contains("--plugin-dir") && words.contains("No such file or directory"), "{words}");
}
