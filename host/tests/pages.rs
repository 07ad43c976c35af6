//! Every command on a page is run as it stands there, or, where that would take long, gone through; `CONTRIBUTING.md` says how.
//! Every page can be reached from `README.md`, and every link leads somewhere.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, workspace};

/// What a page tells its reader to do.
#[derive(Debug, PartialEq)]
enum Step {
    /// Commands as they stand.
    Run(String),
    /// Commands that take too long here.
    Slow(String),
    /// A file to write.
    Write(String, String),
}

/// What the first word of a command may be, for a page to be a place where commands stand.
const PROGRAMS: &str =
    r"^(\w+=\S+ )*(host|target/release/host|cargo|cc|venv/bin/\w+|python3|for \w+ in [^:;]+;)( |$)";

/// The steps of a page; a command outside of a block of commands is a mistake of the page.
fn steps(page: &str) -> Vec<Step> {
    let command = regex::Regex::new(PROGRAMS).unwrap();
    let mut steps = Vec::new();
    let mut lines = page.lines();
    let mut before = "";
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else {
            if let Some(indented) = line.strip_prefix("    ") {
                assert!(!command.is_match(indented), "a command outside of ```sh: {indented}");
            }
            before = if line.is_empty() { before } else { line };
            continue;
        };
        let block: String =
            lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        match kind {
            "sh" => steps.push(Step::Run(block)),
            "sh slow" => steps.push(Step::Slow(block)),
            _ => {
                let any = block.lines().find(|line| command.is_match(line));
                assert!(any.is_none(), "a command outside of ```sh: {any:?}");
                let name = before.strip_prefix('`').and_then(|name| name.strip_suffix("`:"));
                if let (Some(name), "yaml" | "python" | "bash" | "c" | "rust") = (name, kind) {
                    steps.push(Step::Write(name.to_owned(), block));
                }
            }
        }
    }
    steps
}

/// Every page of the workspace, by its path from there.
fn pages() -> Vec<PathBuf> {
    let root = workspace();
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !name.starts_with('.') && !["target", "results", "venv"].contains(&name) {
                folders.push(path);
            } else if name.ends_with(".md") {
                found.push(path.strip_prefix(&root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// A folder that looks like a clone in which everything was built, with results of its own.
fn clone() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in
        ["experiments", "host", "plugin-api", "plugins", "snapshots", "Cargo.toml", "README.md", ".ci"]
    {
        symlink(workspace().join(name), at(name)).unwrap();
    }
    let stand_ins = workspace().join("host/tests/data/pages");
    for (folder, programs) in
        [("run", vec![]), ("slow", vec![("host", "host"), ("cargo", "cargo"), ("python3", "python")])]
    {
        std::fs::create_dir_all(at(folder)).unwrap();
        for (name, stand_in) in programs {
            symlink(stand_ins.join(stand_in), at(folder).join(name)).unwrap();
        }
    }
    symlink(env!("CARGO_BIN_EXE_host"), at("run/host")).unwrap();
    std::fs::create_dir_all(at("venv/bin")).unwrap();
    for name in ["python", "pip"] {
        symlink(stand_ins.join("python"), at("venv/bin").join(name)).unwrap();
    }
    std::fs::create_dir_all(at("target/release")).unwrap();
    folder
}

/// A program that a page needs and this machine does not have.
fn missing(page: &Path) -> Option<&'static str> {
    let needed = [
        ("plugins/benchmarks/C.md", "cc"),
        ("plugins/c/README.md", "cc"),
        ("host/INSTALL.md", "cc"),
        ("plugins/benchmarks/PYTHON.md", "python3"),
    ];
    let (_, program) = needed.into_iter().find(|(name, _)| page == Path::new(name))?;
    Command::new(program).arg("--version").output().is_err().then_some(program)
}

/// Goes through a page; answers how many commands it has.
fn follow(page: &Path) -> usize {
    let text = std::fs::read_to_string(workspace().join(page)).unwrap();
    let (steps, folder) = (steps(&text), clone());
    let scripts = regex::Regex::new(r"\.ci/(\w+)[^#\n]*").unwrap();
    let mut commands = 0;
    for step in &steps {
        let (script, programs) = match step {
            Step::Write(name, text) => {
                std::fs::write(folder.path().join(name), text).unwrap();
                continue;
            }
            Step::Run(script) => (script, "run"),
            Step::Slow(script) => (script, "slow"),
        };
        commands += script.lines().count();
        let host = folder.path().join("target/release/host");
        let _ = std::fs::remove_file(&host);
        symlink(folder.path().join(programs).join("host"), host).unwrap();
        // The scripts of CI have their own tests in being run: here they have to be there.
        let script = match programs {
            "slow" => scripts.replace_all(script, "test -x .ci/$1 ").replace("git diff", "git --version #"),
            _ => script.clone(),
        };
        let path = format!("{}:{}", folder.path().join(programs).display(), std::env::var("PATH").unwrap());
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &script])
            .current_dir(folder.path())
            .env("PATH", path)
            .env("REAL_HOST", env!("CARGO_BIN_EXE_host"))
            .env("WORKSPACE", workspace())
            .env("REAL_CARGO", env!("CARGO"))
            .env("PLUGIN_TARGET", Path::new(env!("CARGO_TARGET_TMPDIR")).join("boundary/target"))
            .env("XDG_DATA_HOME", "/nowhere")
            .env_remove("HOST_PLUGIN_PATH")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}, {programs}:\n{script}\n{said}", page.display());
    }
    commands
}

#[test]
fn every_command_of_every_page_does_what_it_says() {
    support::program_folder();
    let followed = pages().into_iter().filter(|page| match missing(page) {
        None => true,
        Some(program) => {
            eprintln!("skipped: {} needs `{program}`, which is not here", page.display());
            false
        }
    });
    let counts: Vec<(PathBuf, usize)> = followed.map(|page| (page.clone(), follow(&page))).collect();
    let of =
        |name: &str| counts.iter().find(|(page, _)| page == Path::new(name)).map_or(0, |(_, count)| *count);
    // That there are any: a page whose blocks were not found would pass.
    assert!(of("README.md") >= 15 && of("host/TRUST.md") >= 10 && of("host/REPORT.md") >= 5, "{counts:?}");
    assert!(of("experiments/paper/README.md") >= 7 && of("CONTRIBUTING.md") >= 5, "{counts:?}");
}

#[test]
fn blocks_files_and_commands_in_the_wrong_place_are_told_apart() {
    let page = "# Page\n\n`a.yaml`:\n\n```yaml\nname: a\n```\n\n```sh\nhost run a.yaml\n```\n\n```sh slow\ncargo test\n```\n";
    let expected = [
        Step::Write("a.yaml".to_owned(), "name: a\n".to_owned()),
        Step::Run("host run a.yaml\n".to_owned()),
        Step::Slow("cargo test\n".to_owned()),
    ];
    assert_eq!(steps(page), expected);
    for wrong in [
        "    host run a.yaml\n",
        "    HOST_KILLS=2 cargo test\n",
        "```text\ntarget/release/host plan x\n```\n",
    ] {
        assert!(std::panic::catch_unwind(|| steps(wrong)).is_err(), "{wrong}");
    }
}

/// What the stand-ins are for: each refuses what is not there.
#[test]
fn a_slow_command_that_could_not_work_is_found() {
    support::program_folder();
    let folder = clone();
    let run = |program: &str, words: &str| {
        let mut command = Command::new(workspace().join("host/tests/data/pages").join(program));
        command.args(words.split(' ')).current_dir(folder.path()).env("WORKSPACE", workspace());
        command.env("REAL_HOST", env!("CARGO_BIN_EXE_host")).output().unwrap().status.success()
    };
    assert!(run("cargo", "test -p host --test all runs::") && run("cargo", "build --release"));
    assert!(run("cargo", "install --locked --path host") && !run("cargo", "install --path hots"));
    for wrong in [
        "test -p hots",
        "test -p host --test nothing",
        "test -p host --test all nothing::",
        "run --release -p surrogate-heat --example no",
        "tset",
    ] {
        assert!(!run("cargo", wrong), "{wrong}");
    }
    assert!(run("host", "run experiments/ising.yaml --run-id first --set seeds=2"));
    for wrong in [
        "run experiments/none.yaml",
        "run experiments/ising.yaml --set sedes=2",
        "run manifests/a.yaml",
        "plugins install nowhere",
        "rnu",
    ] {
        assert!(!run("host", wrong), "{wrong}");
    }
    assert!(run("python", "experiments/peers/run.py smac") && !run("python", "experiments/peers/nothing.py"));
}

/// The text of a page outside of blocks of code, by lines.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    page.lines().filter(move |line| {
        let fence = line.starts_with("```");
        in_block ^= fence;
        !in_block && !fence
    })
}

/// What a heading is called in a link to it, as GitHub does it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || ['-', '_', ' '].contains(c);
    heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(page: &str) -> Vec<String> {
    let headings = prose(page).filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// The links of a page to other files, each with the anchor in it where there is one.
fn links(page: &str) -> Vec<(String, Option<String>)> {
    let link = regex::Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let text: Vec<&str> = prose(page).collect();
    let found = link.captures_iter(&text.join("\n")).map(|found| found[1].to_owned()).collect::<Vec<_>>();
    let local = found.into_iter().filter(|link| !link.contains("://"));
    let split = |link: String| match link.split_once('#') {
        Some((file, anchor)) => (file.to_owned(), Some(anchor.to_owned())),
        None => (link, None),
    };
    local.map(split).collect()
}

/// What is wrong with a link, or the page it leads to: of a folder, the README.
fn target(from: &Path, file: &str, anchor: Option<&str>) -> Result<PathBuf, &'static str> {
    let path = match file {
        "" => from.to_owned(),
        file => from.parent().unwrap().join(file),
    };
    let path = workspace().join(path).canonicalize().map_err(|_| "leads nowhere")?;
    let path = if path.is_dir() { path.join("README.md") } else { path };
    let there = path.strip_prefix(workspace().canonicalize().unwrap()).map_err(|_| "leads outside")?;
    if !path.is_file() {
        return Err("leads to a folder without a README");
    }
    let is_page = path.extension().is_some_and(|end| end == "md");
    let headings = if is_page { anchors(&std::fs::read_to_string(&path).unwrap()) } else { Vec::new() };
    match anchor {
        Some(anchor) if is_page && !headings.iter().any(|heading| heading == anchor) => {
            Err("has no such heading")
        }
        _ => Ok(there.to_owned()),
    }
}

#[test]
fn every_page_is_reached_from_the_readme_and_every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut reached = vec![PathBuf::from("README.md")];
    let mut next = 0;
    while let Some(page) = reached.get(next).cloned() {
        next += 1;
        if page.extension().is_none_or(|end| end != "md") {
            continue;
        }
        for (file, anchor) in links(&std::fs::read_to_string(workspace().join(&page)).unwrap()) {
            match target(&page, &file, anchor.as_deref()) {
                Ok(path) if !reached.contains(&path) => reached.push(path),
                Ok(_) => {}
                Err(why) => wrong.push(format!("{}: {file} {anchor:?} {why}", page.display())),
            }
        }
    }
    let unreached = pages().into_iter().filter(|page| !reached.contains(page));
    wrong.extend(unreached.map(|page| format!("{}: no way leads here from README.md", page.display())));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_headings_and_code_are_told_apart() {
    let page =
        "# A `b`, c\n[x](y.md#z) and [w](https://w)\n```sh\n# no heading [x](no.md)\n```\n[q](#a-b-c)\n";
    assert_eq!(anchors(page), ["a-b-c"]);
    let link = |file: &str, anchor: &str| (file.to_owned(), Some(anchor.to_owned()));
    assert_eq!(links(page), [link("y.md", "z"), link("", "a-b-c")]);
    let from = Path::new("host/README.md");
    assert_eq!(target(from, "../README.md", Some("licence")), Ok("README.md".into()));
    assert_eq!(target(from, "../experiments", None), Ok("experiments/README.md".into()));
    assert!(target(from, "nothing.md", None).is_err() && target(from, "../README.md", Some("none")).is_err());
    assert!(target(from, "../../elsewhere", None).is_err());
}
