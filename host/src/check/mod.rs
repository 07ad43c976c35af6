//! A built plugin beside the contract of its kind: the rules of `plugin_api::testing`, each with a verdict.
//!
//! The plugin runs in a process of its own: whatever it does to that one, there is somebody left to tell.

mod child;
mod options;
mod show;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use plugin_api::Kind;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::child::child;
pub use self::show::{json, table};

use crate::diagnostic::{Diagnostic, nearest};
use crate::plugins::locate::Folders;

/// A plugin to check.
pub struct Target {
    pub kind: Kind,
    pub path: PathBuf,
    pub options: Json,
}

/// What one process found.
pub struct Checked {
    pub target: Target,
    /// Its name and version, where it could be loaded.
    pub named: Option<(String, String)>,
    pub verdicts: Vec<Judged>,
    /// How long a call takes, on average.
    pub times: Vec<(String, f64)>,
}

impl Checked {
    pub fn is_kept(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.broken.is_none())
    }
}

/// What became of one promise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub promise: String,
    pub words: String,
    /// How it was broken.
    pub broken: Option<String>,
}

impl Judged {
    fn new(promise: &str, words: &str, broken: Option<String>) -> Self {
        Self { promise: promise.to_owned(), words: words.to_owned(), broken }
    }
}

/// What the process says, a line each after a mark of its own: a plugin may print in between.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Message {
    Loaded {
        name: String,
        version: String,
    },
    Call(String),
    Verdict(Judged),
    Time {
        call: String,
        seconds: f64,
    },
    /// It cannot be made without an option that nobody gave.
    Needs(String),
    Done,
}

/// The files that an argument means: a path, or a name in any of the kinds.
pub fn targets(argument: &str, options: &Json, folders: &Folders) -> Result<Vec<Target>, Diagnostic> {
    let target = |kind, path| Target { kind, path, options: options.clone() };
    let path = Path::new(argument);
    if argument.contains(std::path::is_separator) || path.is_file() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((kind, _)) = Kind::of_file_name(name) else {
            let example = Kind::Solver.file_name("my-name");
            return Err(Diagnostic::new(format!("`{name}` is not the name of a plugin's file"))
                .because("the host finds plugins by their files' names: kind and name, with `_` for `-`")
                .hint(format!("such as {example} for the solver `my-name`")));
        };
        if !path.is_file() {
            return Err(Diagnostic::new(format!("there is no file {argument}")));
        }
        return Ok(vec![target(kind, path.to_owned())]);
    }
    let found = Kind::ALL.into_iter().filter_map(|kind| Some(target(kind, folders.find(kind, argument)?)));
    let found: Vec<Target> = found.collect();
    match found.is_empty() {
        false => Ok(found),
        true => {
            let near = Kind::ALL.into_iter().filter_map(|kind| folders.nearest(kind, argument));
            let near: Vec<String> = near.collect();
            let meant = nearest(argument, near.iter().map(String::as_str));
            let meant = meant.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
            let hint = format!("{meant}`host plugins list` shows all; a file is named by its path");
            Err(Diagnostic::new(format!("no plugin named `{argument}`")).hint(hint))
        }
    }
}

/// Checks one plugin in a process of its own; an error where it cannot even be asked.
pub fn check(target: Target, insecure: bool, limit: Duration) -> Result<Checked, Diagnostic> {
    let mark = format!("\u{1}{:x}:", std::process::id());
    let mut process = start(&target, insecure, &mark)
        .map_err(|error| Diagnostic::new("cannot start a process").because(error))?;
    let (sender, lines) = mpsc::channel();
    let stdout = process.stdout.take();
    std::thread::spawn(move || {
        let mut output = BufReader::new(stdout.expect("its output is piped"));
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
    let mut checked = Checked { target, named: None, verdicts: Vec::new(), times: Vec::new() };
    let (mut printed, mut last, mut done) = (String::new(), "loading it".to_owned(), false);
    let silent = loop {
        let line = match lines.recv_timeout(limit) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => break true,
            Err(RecvTimeoutError::Disconnected) => break false,
        };
        let Some((before, message)) = line.split_once(&mark) else {
            printed.push_str(&line);
            continue;
        };
        printed.push_str(before);
        match serde_json::from_str(message) {
            Ok(Message::Loaded { name, version }) => checked.named = Some((name, version)),
            Ok(Message::Call(call)) => last = call,
            Ok(Message::Verdict(verdict)) => checked.verdicts.push(verdict),
            Ok(Message::Time { call, seconds }) => checked.times.push((call, seconds)),
            Ok(Message::Done) => done = true,
            Ok(Message::Needs(what)) => {
                let _ = process.kill();
                let _ = process.wait();
                return Err(Diagnostic::new("the plugin cannot be made from its defaults")
                    .because(what)
                    .hint("give the option with the name: `host plugins check 'NAME[key=value]'`"));
            }
            Err(_) => printed.push_str(message),
        }
    };
    if silent {
        let _ = process.kill();
    }
    let status = process.wait();
    if silent || !done {
        let how = match (silent, status) {
            (true, _) => format!("there was no answer within {limit:?}"),
            (false, Ok(status)) => format!("the process ended ({status})"),
            (false, Err(error)) => format!("the process is lost: {error}"),
        };
        let words = "the process lives, and every call ends";
        checked.verdicts.push(Judged::new("survives", words, Some(format!("{how} in {last}"))));
    }
    let first = printed.lines().map(str::trim).find(|line| !line.is_empty());
    let broken = first.map(|line| format!("it printed `{line}`"));
    checked.verdicts.push(Judged::new("silent", "nothing is printed to the standard output", broken));
    Ok(checked)
}

fn start(target: &Target, insecure: bool, mark: &str) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["plugins", "check"]).arg(std::path::absolute(&target.path)?);
    command.args(["--kind", target.kind.name(), "--options", &target.options.to_string(), "--child", mark]);
    command.args(insecure.then_some("--allow-insecure-plugins"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()
}
