//! The program: reads a manifest, loads plugins, runs, records, reports.
//!
//! One public function per command; `main` parses arguments and chooses the exit code.

pub mod cli;
pub mod diagnostic;
pub mod manifest;
pub mod plan;
pub mod plugins;
pub mod report;
pub mod run;
pub mod schema;
pub mod solve;
pub mod trial;
pub mod yaml;

mod clock;

use std::io::Write;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::cli::{ManifestArguments, PluginArguments, RunArguments, SolveArguments};
use crate::diagnostic::Diagnostic;
use crate::plan::overrides::Overrides;
use crate::plan::{Plan, Source};
use crate::plugins::describe;
use crate::plugins::locate::Folders;
use crate::report::summary::summarize;
use crate::report::{csv, table};
use crate::run::progress::Progress;

/// What a command prints, or everything that is wrong with the request.
pub type Printed = Result<String, Vec<Diagnostic>>;

fn make_plan(arguments: &ManifestArguments) -> Result<Plan, Vec<Diagnostic>> {
    let source = Source::read(&arguments.path).map_err(|diagnostic| vec![diagnostic])?;
    let overrides = Overrides { set: arguments.set.clone(), solver: arguments.solver.clone() };
    plan::plan(&source, &overrides, &arguments.plugins)
}

/// `host plan`: the trials, or the whole plan as JSON.
pub fn plan(arguments: &ManifestArguments, as_json: bool) -> Printed {
    let plan = make_plan(arguments)?;
    if as_json {
        let trials: Vec<Json> = plan
            .trials()
            .map(|trial| {
                json!({
                    "id": trial.id(), "method": trial.method.name, "seed": trial.seed,
                    "sweep": trial.setting.sweep.iter().cloned().collect::<serde_json::Map<_, _>>()
                })
            })
            .collect();
        let json = json!({
            "name": plan.name, "hash": plan.hash, "seeds": plan.seeds, "settings": plan.settings, "trials": trials
        });
        return Ok(serde_json::to_string_pretty(&json).expect("a plan is plain data"));
    }
    let header = ["trial", "method", "sweep", "seed", "evaluations"].map(str::to_owned);
    let rows: Vec<Vec<String>> = plan
        .trials()
        .map(|trial| {
            let swept = trial.setting.sweep.iter().map(|(key, value)| format!("{key}={value}"));
            let evaluations = format!("{} + {}", trial.setting.initial, trial.setting.evaluations);
            let sweep = swept.collect::<Vec<_>>().join(" ");
            vec![trial.id(), trial.method.name.clone(), sweep, trial.seed.to_string(), evaluations]
        })
        .collect();
    let count = match rows.len() {
        1 => "1 trial".to_owned(),
        count => format!("{count} trials"),
    };
    Ok(format!("# {count}; every default filled:\n{}\n{}", plan.yaml, table::columns(&header, &rows)))
}

/// `host run`: the table of methods; the last line names the run's folder.
///
/// The flag says whether every trial finished.
pub fn run(arguments: &RunArguments) -> Result<(String, bool), Vec<Diagnostic>> {
    let plan = make_plan(&arguments.manifest)?;
    let cores = std::thread::available_parallelism();
    let settings = run::Settings {
        output: arguments.output.clone(),
        run_id: arguments.run_id.clone(),
        resume: arguments.resume,
        jobs: arguments.jobs.or(cores.ok()).map_or(1, Into::into),
        in_process: arguments.in_process,
        plugins: arguments.manifest.plugins.clone(),
    };
    let mut progress = Progress::new(arguments.quiet);
    let outcome = run::run(&plan, &settings, &mut progress).map_err(|diagnostic| vec![diagnostic])?;
    let text = results(&plan, &outcome.folder).map_err(|diagnostic| vec![diagnostic])?;

    for (id, reason) in &outcome.failed {
        eprintln!("error: trial `{id}` failed\n  cause: {}", reason.replace('\n', "\n         "));
    }
    if outcome.stopped {
        let id = outcome.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("stopped; every finished evaluation is kept. To go on:\n  {}", resume_command(&id));
    }
    let folder = outcome.folder.display();
    Ok((format!("{text}\n\n{folder}"), outcome.failed.is_empty() && !outcome.stopped))
}

/// The command that was given, made to go on with this run.
fn resume_command(run_id: &str) -> String {
    let mut words = vec!["host".to_owned()];
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        match word.as_str() {
            "--resume" => {}
            "--run-id" => drop(given.next()),
            word if word.starts_with("--run-id=") => {}
            word if word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@".contains(c)) => {
                words.push(word.to_owned())
            }
            word => words.push(format!("'{}'", word.replace('\'', r"'\''"))),
        }
    }
    words.extend(["--resume", "--run-id", run_id].map(str::to_owned));
    words.join(" ")
}

/// Writes a run's tables into its folder, and answers the one for a terminal.
fn results(plan: &Plan, folder: &Path) -> Result<String, Diagnostic> {
    let ids: Vec<String> = plan.trials().map(|trial| trial.id()).collect();
    let trials = report::read(folder, ids.iter().map(String::as_str));
    let summaries = summarize(&trials);
    let write = |name: &str, write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let path = folder.join(name);
        let mut bytes = Vec::new();
        let written = write(&mut bytes).and_then(|()| std::fs::write(&path, bytes));
        written.map_err(|error| Diagnostic::new(format!("cannot write {}", path.display())).because(error))
    };
    write("trace.csv", &|out| csv::trace(&trials, out))?;
    write("afo.csv", &|out| csv::afo(&trials, out))?;
    write("summary.json", &|out| {
        let summary = json!({ "experiment": plan.name, "plan": plan.hash, "methods": summaries });
        serde_json::to_writer_pretty(&mut *out, &summary)?;
        writeln!(out)
    })?;
    Ok(table::table(&summaries))
}

/// `host solve`: writes a table or JSON lines to `out`.
///
/// The answer says whether every solver solved every problem.
pub fn solve(arguments: &SolveArguments, out: &mut dyn Write) -> Result<bool, Vec<Diagnostic>> {
    solve::solve(arguments, &Folders::of(&arguments.plugins), out)
}

/// `host plugins list`.
pub fn plugins_list(plugins: &PluginArguments, as_json: bool) -> Printed {
    let folders = Folders::of(plugins);
    let (found, broken) = describe::find(&folders);
    for error in &broken {
        eprintln!("warning: {error}");
    }
    if as_json {
        let list: Vec<Json> = found.iter().map(|plugin| describe::json(plugin, false)).collect();
        return Ok(serde_json::to_string_pretty(&list).expect("descriptions are plain data"));
    }
    if found.is_empty() {
        return Err(vec![
            Diagnostic::new("no plugins found")
                .because(format!("searched: {}", folders.names().join(", ")))
                .hint(
                    "`cargo build --release` builds them beside the host; --plugin-dir names another folder",
                ),
        ]);
    }
    Ok(describe::list(&found))
}

/// `host plugins describe`.
pub fn plugins_describe(name: &str, plugins: &PluginArguments, as_json: bool) -> Printed {
    let folders = Folders::of(plugins);
    let (found, _) = describe::find(&folders);
    let named: Vec<_> = found.iter().filter(|plugin| plugin.name == name).collect();
    if named.is_empty() {
        let nearest = diagnostic::nearest(name, found.iter().map(|plugin| plugin.name.as_str()));
        let diagnostic = Diagnostic::new(format!("no plugin named `{name}`"));
        let hint = nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
        return Err(vec![diagnostic.hint(format!("{hint}`host plugins list` shows all"))]);
    }
    if as_json {
        let list: Vec<Json> = named.iter().map(|plugin| describe::json(plugin, true)).collect();
        return Ok(serde_json::to_string_pretty(&list).expect("descriptions are plain data"));
    }
    Ok(named.iter().map(|plugin| describe::describe(plugin)).collect::<Vec<_>>().join("\n\n"))
}

/// `host schema`.
pub fn manifest_schema(plugins: &PluginArguments) -> Printed {
    let (found, _) = describe::find(&Folders::of(plugins));
    Ok(serde_json::to_string_pretty(&schema::schema(&found)).expect("a schema is plain data"))
}
