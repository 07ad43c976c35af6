//! A new plugin of one's own: the files that it starts with, from `host/templates/` and the examples in C.

use std::path::{Path, PathBuf};

use plugin_api::Kind;

use crate::diagnostic::Diagnostic;

/// What a plugin is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    #[default]
    Rust,
    C,
    Python,
}

/// A plugin to be.
pub struct Wish<'a> {
    pub kind: Kind,
    pub name: &'a str,
    pub language: Language,
}

/// What a new plugin starts with.
pub struct Skeleton {
    /// The folder's name.
    pub folder: String,
    /// Files by their path in it, each with what it is.
    pub files: Vec<File>,
    /// What to do next, within the folder.
    pub commands: Vec<String>,
}

pub struct File {
    pub path: String,
    pub text: String,
    pub what: &'static str,
}

const HEADER: &str = include_str!("../../../plugin-api/include/host_plugin.h");
const WORKBENCH: &str = include_str!("../../../plugin-api/python/workbench.py");
const CRATE: &str = include_str!("../../templates/rust/crate.toml");
const PYTHON: &str = include_str!("../../templates/python/benchmark.py");

/// Source and manifest of each kind in Rust.
fn rust(kind: Kind) -> (&'static str, &'static str) {
    macro_rules! template {
        ($kind:literal) => {
            (
                include_str!(concat!("../../templates/rust/", $kind, ".rs")),
                include_str!(concat!("../../templates/rust/", $kind, ".yaml")),
            )
        };
    }
    match kind {
        Kind::Benchmark => template!("benchmark"),
        Kind::Encoder => template!("encoder"),
        Kind::Surrogate => template!("surrogate"),
        Kind::Solver => template!("solver"),
    }
}

/// The example in C of a kind, and the name that it has there.
fn c(kind: Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::Benchmark => Some((include_str!("../../../plugins/c/knapsack.c"), "knapsack")),
        Kind::Solver => Some((include_str!("../../../plugins/c/descent.c"), "descent")),
        Kind::Encoder | Kind::Surrogate => None,
    }
}

/// The checkout's `plugin-api`: what this program was built from, or, where that is gone, what lies above the program.
pub fn api() -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(|root| root.join("plugin-api"));
    let program = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let above = program.iter().flat_map(|path| path.ancestors().skip(1)).map(|root| root.join("plugin-api"));
    built.into_iter().chain(above).find(|api| api.join("Cargo.toml").is_file())
}

/// The files of a new plugin; `api` is the folder of `plugin-api`, which a plugin in Rust is built with.
pub fn skeleton(wish: &Wish<'_>, api: Option<&Path>) -> Result<Skeleton, Diagnostic> {
    let Wish { kind, name, language } = *wish;
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !name.ends_with('-');
    if !is_name {
        return Err(Diagnostic::new(format!("`{name}` cannot be the name of a plugin"))
            .hint("small letters, digits and -, beginning with a letter, such as `my-problem`"));
    }
    let folder = format!("{kind}-{name}");
    let run = format!("host run {name}.yaml");
    let file = kind.file_name(name);
    match language {
        Language::Rust => {
            let Some(api) = api else {
                return Err(Diagnostic::new("plugin-api is not there to build a plugin with")
                    .because(format!("this program was built from {}", env!("CARGO_MANIFEST_DIR")))
                    .hint("--api names its folder in a checkout; `--lang c` and `--lang python` need none"));
            };
            let (source, manifest) = rust(kind);
            let fill = |text: &str, folder: &str| fill(text, wish, &file, api, folder);
            let mut files = vec![
                File {
                    path: "Cargo.toml".into(),
                    text: fill(CRATE, ""),
                    what: "its name, and what it is built with",
                },
                File { path: "src/lib.rs".into(), text: fill(source, ""), what: "the plugin: begin here" },
                File {
                    path: ".gitignore".into(),
                    text: "/target\n/results\n".into(),
                    what: "what is made from it",
                },
                manifest_file(name, fill(manifest, "target/release")),
            ];
            // The versions of everything that the api itself needs, as they were tested.
            if let Some(lock) =
                api.parent().and_then(|root| std::fs::read_to_string(root.join("Cargo.lock")).ok())
            {
                files.push(File {
                    path: "Cargo.lock".into(),
                    text: lock,
                    what: "versions of all dependencies",
                });
            }
            let commands = vec![
                "cargo test --release".into(),
                "cargo build --release".into(),
                format!("host plugins check target/release/{file}"),
                run,
            ];
            Ok(Skeleton { folder, files, commands })
        }
        Language::C => {
            let Some((example, old)) = c(kind) else {
                return Err(only(kind, "C", "a benchmark or a solver"));
            };
            let source = format!("{}.c", name.replace('-', "_"));
            let compile = format!("cc -std=c99 -O2 -shared -fPIC {source} -o {file}");
            let text = example.replace(&format!(".name = \"{old}\""), &format!(".name = \"{name}\""));
            let text: String = text
                .lines()
                .map(|line| match line.starts_with(" *     cc ") {
                    true => format!(" *     {compile}\n"),
                    false => format!("{line}\n"),
                })
                .collect();
            let (_, manifest) = rust(kind);
            let manifest = fill(manifest, wish, &file, Path::new(""), ".");
            let files = vec![
                File { path: source, text, what: "the plugin: begin here" },
                File {
                    path: "host_plugin.h".into(),
                    text: HEADER.into(),
                    what: "what host and plugin agree on",
                },
                manifest_file(name, manifest),
            ];
            let commands = vec![compile, format!("host plugins check ./{file}"), run];
            Ok(Skeleton { folder, files, commands })
        }
        Language::Python => {
            if kind != Kind::Benchmark {
                return Err(only(kind, "Python", "a benchmark"));
            }
            let snake = name.replace('-', "_");
            let fill = |text: &str| fill(text, wish, &file, Path::new(""), ".");
            let files = vec![
                File { path: format!("{snake}.py"), text: fill(PYTHON), what: "the objective: begin here" },
                File {
                    path: "workbench.py".into(),
                    text: WORKBENCH.into(),
                    what: "what makes a function an objective",
                },
                manifest_file(name, fill(include_str!("../../templates/python/benchmark.yaml"))),
            ];
            let words: Vec<String> = (1..=8).map(|i| format!("--item{i}=left")).collect();
            let commands = vec![format!("python3 {snake}.py {}", words.join(" ")), run];
            Ok(Skeleton { folder, files, commands })
        }
    }
}

fn only(kind: Kind, language: &str, what: &str) -> Diagnostic {
    Diagnostic::new(format!("no {kind} can be written in {language}, only {what}"))
        .hint("`--lang rust` is for every kind")
}

/// The file of the schema that editors read, beside each manifest.
pub const SCHEMA: &str = "manifest.schema.json";

fn manifest_file(name: &str, text: String) -> File {
    let text = format!("# yaml-language-server: $schema={SCHEMA}\n{text}");
    File { path: format!("{name}.yaml"), text, what: "an experiment with it" }
}

fn fill(text: &str, wish: &Wish<'_>, file: &str, api: &Path, folder: &str) -> String {
    let summary = match wish.kind {
        Kind::Benchmark => "Which items to pack, so that they are worth much and not too heavy.",
        Kind::Encoder => "One bit for each variable of two levels, set where it has the first.",
        Kind::Surrogate => "What each bit adds to the value on average, with its doubt.",
        Kind::Solver => "Descents by the best single flip from many points.",
    };
    [
        ("{{kind}}", wish.kind.name()),
        ("{{name}}", wish.name),
        ("{{snake}}", &wish.name.replace('-', "_")),
        ("{{summary}}", summary),
        ("{{file}}", file),
        ("{{folder}}", folder),
        ("{{host}}", env!("CARGO_PKG_VERSION")),
        // As TOML reads it on every system.
        ("{{api}}", &api.display().to_string().replace('\\', "/")),
    ]
    .iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_template_but_what_it_stands_for() {
        for kind in Kind::ALL {
            for language in [Language::Rust, Language::C, Language::Python] {
                let wish = Wish { kind, name: "my-own", language };
                let Ok(made) = skeleton(&wish, Some(Path::new("/api"))) else {
                    assert!(language != Language::Rust, "{kind}");
                    continue;
                };
                let own =
                    made.files.iter().filter(|file| !["Cargo.lock", "workbench.py"].contains(&&*file.path));
                for File { path, text, .. } in own {
                    assert!(!text.contains("{{") || path.ends_with(".h"), "{path}: {text}");
                }
                let named = made
                    .files
                    .iter()
                    .any(|file| file.text.contains("\"my-own\"") || file.text.contains("my_own.py"));
                assert!(
                    named && made.commands.last().unwrap() == "host run my-own.yaml",
                    "{kind} {language:?}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_made_is_told() {
        let refusal =
            |kind, name, language| skeleton(&Wish { kind, name, language }, None).err().unwrap().message;
        for name in ["", "My", "2x", "a_b", "a-", "../x"] {
            assert!(refusal(Kind::Solver, name, Language::C).contains("cannot be the name"), "{name}");
        }
        assert!(refusal(Kind::Encoder, "x", Language::C).contains("only a benchmark or a solver"));
        assert!(refusal(Kind::Solver, "x", Language::Python).contains("only a benchmark"));
        assert!(refusal(Kind::Solver, "x", Language::Rust).contains("plugin-api is not there"));
    }
}
