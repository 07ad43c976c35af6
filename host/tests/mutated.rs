//! A malformed manifest never panics: it is a plan, or mistakes with their places.

mod support;

use std::path::PathBuf;
use std::sync::OnceLock;

use host::cli::PluginArguments;
use host::diagnostic::Place;
use host::plan::overrides::Overrides;
use host::plan::{Source, plan};
use proptest::prelude::*;

/// Plans a text as `host plan` would. Every mistake has to stand somewhere in the text.
fn planned(text: String, set: Vec<String>, solver: Vec<String>) {
    static PLUGINS: OnceLock<PathBuf> = OnceLock::new();
    let plugins = PLUGINS.get_or_init(|| support::program_folder().to_owned());
    // What YAML takes for the end of a line.
    let lines =
        text.chars().filter(|c| matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')).count() + 1;
    let source = Source { label: "m.yaml".to_owned(), text, base: std::env::temp_dir() };
    let plugins = PluginArguments { directories: vec![plugins.clone()], allow_insecure: false };
    match plan(&source, &Overrides { set, solver }, &plugins) {
        Ok(plan) => assert!(plan.trials().count() > 0),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            for mistake in mistakes {
                assert!(!mistake.to_string().is_empty());
                if let Some(Place::File(_, line, column)) = mistake.place {
                    assert!(
                        (1..=lines + 1).contains(&line) && column > 0,
                        "{line}:{column} of {lines} lines"
                    );
                }
            }
        }
    }
}

const WHOLE: &str = "\
name: whole
seeds: [1, 2]
budget: { initial: 3, evaluations: 2 }
penalty: { l1: 0.5 }
benchmark: { use: labs, options: { n: 6, value: energy } }
encoder: binary
methods:
  a: { surrogate: random, solver: { use: annealing, options: { sweeps: 3 } }, shadows: [exhaustive] }
  b: { surrogate: random, solver: psr }
sweep: { penalty.l1: [0, 1], methods.a.solver.options.sweeps: [1, 2] }
plugin-directories: [.]
";

/// Pieces that mean something in YAML or in a manifest.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "  ",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "#",
    "&a ",
    "*a",
    "!tag ",
    "<<: *a",
    "|",
    ">",
    "'",
    "\"",
    "~",
    "null",
    "true",
    ".nan",
    ".inf",
    "-.inf",
    "0",
    "-1",
    "1e999",
    "18446744073709551616",
    "0x10",
    "1_000",
    "é",
    "\t",
    "\u{0}",
    "\u{feff}",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "name",
    "seeds",
    "budget",
    "initial",
    "evaluations",
    "penalty",
    "l1",
    "benchmark",
    "use",
    "options",
    "methods",
    "solver",
    "surrogate",
    "shadows",
    "sweep",
    "encoder",
    "labs",
    "ising",
    "psr",
    "one-hot",
    "../../x",
    "./x.so",
    "? ",
    "[[[[[[[[",
    "{a: {a: {a: ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_put_anywhere_never_panic(
        cuts in prop::collection::vec((0.0..1.0_f64, 0..12_usize, prop::sample::select(PIECES)), 1..4),
    ) {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for (place, length, piece) in cuts {
            let start = (place * text.len() as f64) as usize;
            let end = (start + length).min(text.len());
            text.splice(start..end, piece.chars());
        }
        planned(text.into_iter().collect(), vec![], vec![]);
    }

    #[test]
    fn any_text_never_panics(text in any::<String>()) {
        planned(text, vec![], vec![]);
    }

    #[test]
    fn any_override_never_panics(
        keys in prop::collection::vec(prop::sample::select(PIECES), 0..4),
        value in prop::sample::select(PIECES),
        solver in "[a-z\\[\\]=,.0-9-]{0,12}",
    ) {
        planned(WHOLE.to_owned(), vec![format!("{}={value}", keys.join("."))], vec![]);
        planned(WHOLE.to_owned(), vec![], vec![solver]);
    }
}

#[test]
fn bombs_do_not_go_off() {
    let mut aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..30 {
        let before = vec![format!("*a{}", i - 1); 10].join(", ");
        aliases += &format!("a{i}: &a{i} [{before}]\n");
    }
    planned(aliases, vec![], vec![]);
    planned("[".repeat(100_000), vec![], vec![]);
    planned("a: ".repeat(100_000), vec![], vec![]);
    planned(format!("name: {}", "x".repeat(10_000_000)), vec![], vec![]);
}
