//! `host merge`: run folders of one plan become one, with its report; the last line names the folder.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::{Logs, print, refuse, tell_broken};
use crate::cli::MergeArguments;
use crate::diagnostic::{Diagnostic, LogFormat};
use crate::record::RunFolder;
use crate::record::merge::{MergeError, Merged, merge as unite};
use crate::report;
use crate::text::say;

/// How often a line appears where there is no terminal.
const SELDOM: Duration = Duration::from_secs(10);

pub(super) fn merge(arguments: &MergeArguments, logs: Logs) -> ExitCode {
    let interrupt = match Interrupt::listen() {
        Ok(interrupt) => interrupt,
        Err(error) => {
            return refuse(&[Diagnostic::new("Ctrl-C cannot be listened for").because(error)]);
        }
    };
    let mut shown = Shown::new(arguments.quiet, logs.format);
    let mut go_on = |done, all| {
        shown.tell(done, all);
        !interrupt.asked.load(Ordering::Relaxed)
    };
    let MergeArguments { folders, output, allow_changed_plugins, .. } = arguments;
    let merged = unite(folders, output, *allow_changed_plugins, &mut go_on);
    interrupt.over.store(true, Ordering::Relaxed);
    shown.end();
    match merged {
        Ok(merged) => finish(arguments, &merged, logs.format),
        Err(MergeError::Refused(mistakes)) => refuse(&mistakes),
        Err(MergeError::OtherPlan(pair)) => refuse(&[other_plan(&pair.0, &pair.1)]),
        Err(MergeError::Failed(diagnostic)) => {
            say(diagnostic.hint("nothing was merged, and the folders are as they were"));
            ExitCode::FAILURE
        }
        Err(MergeError::Stopped) => {
            say("stopped; nothing was merged, and the folders are as they were");
            ExitCode::FAILURE
        }
    }
}

fn other_plan(one: &RunFolder, other: &RunFolder) -> Diagnostic {
    let differences = report::plan_differences(one, other);
    let cause = match differences.is_empty() {
        true => {
            "identity.json names another plan: plan.yaml was changed since, or planned by another version"
                .to_owned()
        }
        false => differences.join("\n         "),
    };
    let (one, other) = (one.path.display(), other.path.display());
    Diagnostic::new(format!("{one} and {other} are of different plans"))
        .because(cause)
        .hint(format!("`host report {one} {other}` puts them beside each other"))
}

/// Says what is not there, and makes the report.
fn finish(arguments: &MergeArguments, merged: &Merged, format: LogFormat) -> ExitCode {
    let folder = &arguments.output;
    if let Some(left) = left(merged) {
        match format {
            LogFormat::Text => {
                say(format!("note: {left}; `host run --resume {}` runs what is left", folder.display()));
            }
            LogFormat::Json => say(json!({
                "progress": "incomplete", "trials": merged.trials, "finished": merged.finished,
                "planned": merged.planned, "absent_parts": merged.absent,
            })),
        }
    }
    match report::report(std::slice::from_ref(folder), None) {
        Ok(made) => {
            let broken = tell_broken(&made.broken);
            made.flaws.iter().for_each(say);
            let page = made.page.display();
            let printed = print(&format!("{}\n\nreport: {page}\n{}", made.table, folder.display()));
            if broken { ExitCode::FAILURE } else { printed }
        }
        // The journals are there, and say all that the report would.
        Err(diagnostic) => {
            say(diagnostic);
            print(&folder.display().to_string());
            ExitCode::FAILURE
        }
    }
}

/// Which trials are not there or not finished, in words; `None` where all are.
fn left(merged: &Merged) -> Option<String> {
    let Merged { trials, finished, planned, absent } = merged;
    let missing = planned.unwrap_or(*trials).saturating_sub(*trials);
    let mut words = Vec::new();
    if missing > 0 {
        let are = if missing == 1 { "is" } else { "are" };
        let parts = absent.as_ref().map(|absent| match absent.contains(',') {
            true => format!(" (parts {absent} were not given)"),
            false => format!(" (part {absent} was not given)"),
        });
        let planned = planned.unwrap_or(*trials);
        words.push(format!(
            "{missing} of {planned} trials {are} in none of the folders{}",
            parts.unwrap_or_default()
        ));
    }
    let unfinished = trials - finished;
    if unfinished > 0 {
        let are = if unfinished == 1 { "is" } else { "are" };
        words.push(format!("{unfinished} of the {trials} that are there {are} not finished"));
    }
    (!words.is_empty()).then(|| words.join(", and "))
}

/// Ctrl-C and SIGTERM: what was written is removed again. When that is over, they end this process as ever.
struct Interrupt {
    asked: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
}

impl Interrupt {
    fn listen() -> std::io::Result<Self> {
        let (asked, over) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        #[cfg(unix)]
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_default(signal, over.clone())?;
            signal_hook::flag::register(signal, asked.clone())?;
        }
        Ok(Self { asked, over })
    }
}

/// How far it is: a bar on a terminal, a line now and then where there is none, or JSON.
struct Shown {
    quiet: bool,
    format: LogFormat,
    bar: Option<ProgressBar>,
    last: Instant,
}

impl Shown {
    fn new(quiet: bool, format: LogFormat) -> Self {
        let bars = !quiet && format == LogFormat::Text && std::io::stderr().is_terminal();
        let style = ProgressStyle::with_template("merging {bar:30} {pos}/{len} trials, {elapsed}")
            .expect("a template of ours is valid");
        let bar = bars.then(|| ProgressBar::new(0).with_style(style.progress_chars("━━ ")));
        Self { quiet, format, bar, last: Instant::now() }
    }

    fn tell(&mut self, done: usize, all: usize) {
        if let Some(bar) = &self.bar {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        } else if !self.quiet && self.last.elapsed() >= SELDOM {
            self.last = Instant::now();
            match self.format {
                LogFormat::Text => say(format!("{done}/{all} trials merged")),
                LogFormat::Json => say(json!({ "progress": "merging", "trials": all, "done": done })),
            }
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
