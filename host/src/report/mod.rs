//! Runs' folders → a page, figures and tables. Only recorded files are read, so a report can be made again at any
//! time, also while trials run.

mod analysis;
mod figures;
mod live;
mod page;
mod terminal;
mod words;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use self::analysis::differences::Differences;
use self::analysis::learned::learned;
use self::analysis::listing;
use self::analysis::model::Model;
use self::analysis::trial::TrialRecord;
use self::figures::Group;
pub use self::live::{HowFar, Live};
use self::page::Page;
use self::written::Place;
use crate::diagnostic::Diagnostic;
use crate::files::{self, Folder};
use crate::record::tables::Table;
use crate::record::{Broken, RunFolder, TrialFiles};
use crate::{export, parallel::parallel};

/// The page's name.
pub const REPORT: &str = "report.html";
/// The folder of the figures.
pub const FIGURES: &str = "figures";
const SUMMARY: &str = "summary.json";
const BEST: &str = "best.json";
/// The tables of a single run, in the order of [`Table::ALL`].
const TABLES: [&str; 2] = ["trace.csv", "afo.csv"];

/// What was made.
pub struct Reported {
    pub page: PathBuf,
    /// The table for a terminal, and the best points.
    pub table: String,
    /// Journals that are not what was written; their trials are left out.
    pub broken: Vec<Broken>,
    /// What was wrong with answers of solvers, one for each solver that gave false ones.
    pub flaws: Vec<Diagnostic>,
    /// Which finished trials have no value at all.
    pub without_value: Option<Diagnostic>,
}

/// Makes the report of one run or of several beside each other.
///
/// That of one goes into its folder, with its tables; that of several into `comparison` where their paths part.
/// With `output`, it goes into that folder, or, where that is the name of an HTML file, into this file alone.
pub fn report(folders: &[PathBuf], output: Option<&Path>) -> Result<Reported, Diagnostic> {
    let runs: Vec<RunFolder> =
        folders.iter().map(|folder| RunFolder::open(folder)).collect::<Result<_, _>>()?;
    let alone = output.filter(|path| path.extension().is_some_and(|extension| extension == "html"));
    let place = match (output, alone, folders) {
        (Some(output), None, _) => output.to_owned(),
        (_, Some(file), _) => file.parent().unwrap_or(Path::new("")).to_owned(),
        (None, None, [folder]) => folder.clone(),
        _ => parting(folders).join("comparison"),
    };
    let cannot = |error: io::Error| {
        Diagnostic::new(format!("cannot write into {}", place.display()))
            .because(error)
            .hint("--output names another place; what others have put there is left alone")
    };
    let mut written = match alone {
        Some(_) => Folder::make(&place).map(|_| None).map_err(cannot)?,
        None => Some(Place::open(&place, folders.len() == 1 && place == folders[0]).map_err(cannot)?),
    };
    let mut beside = Vec::new();
    if let Some(written) = &mut written {
        beside.extend([SUMMARY, BEST]);
        beside.extend(if runs.len() == 1 { &TABLES[..] } else { &[] });
        written.announce(&[&[REPORT][..], &beside].concat()).map_err(cannot)?;
    }
    let names = folder_names(folders);
    let differences = Differences::of(&runs, &names);
    let labels = &differences.labels;
    let (mut by_run, mut counts, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    let listed = listing::of_each(runs.iter().map(|run| run.trials.len()).sum());
    for (number, run) in runs.iter().enumerate() {
        let tables = written.as_ref().filter(|_| runs.len() == 1);
        let record = |trial: TrialFiles| record(run, number, listed, trial);
        let (records, mut journals) = read(run, record, tables, &|| Ok(())).map_err(cannot)?;
        broken.append(&mut journals);
        counts.push((records.len(), records.iter().filter(|record| record.is_finished()).count()));
        by_run.push(records);
    }
    tell_apart(&mut by_run, &differences);
    let trials: Vec<TrialRecord> = by_run.into_iter().flatten().collect();
    let model = Model::new(&trials);
    let learned = learned(&runs, &model);
    let groups = figures::figures(&model, &learned);
    let html = page::page(&Page {
        runs: &runs,
        names: &names,
        differences: &differences,
        counts: &counts,
        broken: &broken,
        model: &model,
        figures: &groups,
        files: &beside,
        live: None,
    });
    let page = alone.map_or_else(|| place.join(REPORT), Path::to_owned);
    match written {
        None => {
            std::fs::create_dir_all(&place).map_err(cannot)?;
            files::replace(&page, html.as_bytes()).map_err(cannot)?;
        }
        Some(mut written) => {
            written.write(REPORT, html.as_bytes()).map_err(cannot)?;
            draw(&named(&groups), &mut written).map_err(cannot)?;
            written.write(SUMMARY, &summary(&runs, labels, &model)).map_err(cannot)?;
            written.write(BEST, &pretty(&analysis::best::json(&model.settings))).map_err(cannot)?;
            written.finish().map_err(cannot)?;
        }
    }
    let flaws = flaws(&trials);
    let differ = if runs.len() > 1 { terminal::differences(&differences, &names) } else { String::new() };
    let table =
        [differ, terminal::parts(&runs), terminal::table(&model.summaries), terminal::best(&model)].join("");
    let without_value = without_value(&trials);
    Ok(Reported { page, table, broken, flaws, without_value })
}

/// What differs between the plans of two runs, a key each.
pub fn plan_differences(one: &RunFolder, other: &RunFolder) -> Vec<String> {
    let rows = analysis::differences::plans_differ([&one.plan, &other.plan]);
    let value = |value: &String| if value == "–" { "not there".to_owned() } else { value.clone() };
    let words = |row: &analysis::differences::Difference| {
        format!(
            "`{}` is {} in the first, and {} in the other",
            row.key,
            value(&row.values[0]),
            value(&row.values[1])
        )
    };
    rows.iter().map(words).collect()
}

/// Reads all trials, as long as it is to go on, and writes the tables on the way where there is a place for them. Answers which
/// journals are broken.
fn read(
    run: &RunFolder,
    record: impl Fn(TrialFiles) -> TrialRecord + Sync,
    tables: Option<&Place>,
    go_on: &dyn Fn() -> io::Result<()>,
) -> io::Result<(Vec<TrialRecord>, Vec<Broken>)> {
    let mut records = Vec::new();
    let Some(place) = tables else {
        let broken = run.each(record, |record| {
            records.push(record);
            go_on()
        })?;
        return Ok((records, broken));
    };
    let prepare = |trial: TrialFiles| -> io::Result<_> {
        let rows = Table::ALL.map(|table| export::csv_rows(table, run, &trial));
        Ok((rows, record(trial)))
    };
    let mut broken = Vec::new();
    let mut write = |files: [&mut File; 2]| {
        let mut files = files.map(BufWriter::new);
        for (file, table) in files.iter_mut().zip(Table::ALL) {
            file.write_all(&export::csv_header(table, run)?)?;
        }
        broken = run.each(prepare, |prepared| {
            let (rows, record) = prepared?;
            for (file, rows) in files.iter_mut().zip(rows) {
                file.write_all(&rows?)?;
            }
            records.push(record);
            Ok(())
        })?;
        files.iter_mut().try_for_each(Write::flush)
    };
    let [trace, afo] = TABLES;
    place.write_with(trace, |trace| place.write_with(afo, |afo| write([trace, afo])))?;
    Ok((records, broken))
}

/// One diagnostic for each solver that gave false answers, with the first of them.
fn flaws(trials: &[TrialRecord]) -> Vec<Diagnostic> {
    let mut solvers: Vec<(&str, usize, String)> = Vec::new();
    for trial in trials {
        for flaw in trial.flaws.iter().filter(|flaw| !flaw.failed) {
            match solvers.iter_mut().find(|(solver, _, _)| *solver == flaw.solver) {
                Some((_, count, _)) => *count += 1,
                None => {
                    let place = format!("in trial `{}`, iteration {}", trial.started.trial, flaw.iteration);
                    solvers.push((&flaw.solver, 1, format!("{place}: {}", flaw.words)));
                }
            }
        }
    }
    let told = |(solver, count, first): (&str, usize, String)| {
        let answers = if count == 1 { "a false answer".to_owned() } else { format!("{count} false answers") };
        Diagnostic::new(format!("solver `{solver}` gave {answers}"))
            .because(if count == 1 { first } else { format!("the first {first}") })
            .hint("nothing false is in the results, which may still be worse for it; the report lists them")
    };
    solvers.into_iter().map(told).collect()
}

/// What to do where the objective failed.
pub const AFTER_FAILURES: &str = "`host -v run …` shows all that the objective says; evaluations that failed are spent, and \
                                  --resume does not repeat them: after a repair, begin a new run";

/// What to do where the objective refused every point.
const AFTER_REFUSALS: &str = "rules that are known beforehand go under `constraints:` in the manifest: then no evaluation is \
                              spent on a point that breaks them";

fn without_value(trials: &[TrialRecord]) -> Option<Diagnostic> {
    let empty: Vec<&TrialRecord> =
        trials.iter().filter(|trial| trial.is_finished() && trial.found.is_none()).collect();
    let first = empty.first()?;
    let message = match empty.len() {
        1 => format!("no evaluation of trial `{}` has a value", first.started.trial),
        count => format!("no evaluation of {count} trials has a value, `{}` among them", first.started.trial),
    };
    let (failed, infeasible) = (first.failures.len(), first.infeasible);
    let reason = first.failures.last().map(|failure| format!("; the last failure: {}", failure.reason));
    let counts = format!("{failed} evaluations failed and {infeasible} points were infeasible");
    let hint = if failed > 0 { AFTER_FAILURES } else { AFTER_REFUSALS };
    Some(Diagnostic::new(message).because(counts + &reason.unwrap_or_default()).hint(hint))
}

/// The figures that have a file.
fn named(groups: &[Group]) -> Vec<(&str, &figures::Scene)> {
    let panels = groups.iter().flat_map(|group| &group.panels);
    let figures = panels.flat_map(|panel| &panel.views).flat_map(|view| &view.figures);
    figures.filter_map(|figure| Some((figure.file.as_deref()?, &figure.scene))).collect()
}

/// Writes every figure that has a name, as SVG and PNG, on all cores.
fn draw(named: &[(&str, &figures::Scene)], place: &mut Place) -> io::Result<()> {
    let names: Vec<String> =
        named.iter().flat_map(|(name, _)| [format!("{name}.svg"), format!("{name}.png")]).collect();
    let folder = place.figures(&names)?;
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    let share = named.len().div_ceil(cores).max(1);
    let save = |part: &[(&str, &figures::Scene)]| {
        part.iter().try_for_each(|(name, scene)| {
            folder.replace(&format!("{name}.svg"), figures::svg::file(scene).as_bytes())?;
            match figures::png::file(scene) {
                Some(png) => folder.replace(&format!("{name}.png"), &png),
                None => Ok(()),
            }
        })
    };
    parallel(&named.chunks(share).collect::<Vec<_>>(), |part| save(part)).into_iter().collect()
}

fn summary(runs: &[RunFolder], labels: &[String], model: &Model<'_>) -> Vec<u8> {
    let hash = |run: &RunFolder| run.identity.as_ref().map(|identity| identity.plan.clone());
    let head = match runs {
        [run] => {
            let mut head = json!({ "experiment": run.experiment, "plan": hash(run) });
            if let Some(shard) = run.shard {
                head["part"] = json!(shard);
            }
            head
        }
        runs => {
            let run = |(run, label): (&RunFolder, &String)| json!({ "run": label, "experiment": run.experiment, "plan": hash(run) });
            json!({ "runs": runs.iter().zip(labels).map(run).collect::<Vec<_>>() })
        }
    };
    let mut summary = head;
    summary["methods"] = json!(model.summaries);
    summary["comparisons"] = json!(model.comparisons);
    summary["solvers"] = json!(model.by_dimension);
    summary["improvements"] = json!(model.improvements);
    pretty(&summary)
}

fn pretty(json: &serde_json::Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(json).expect("JSON is plain data");
    bytes.push(b'\n');
    bytes
}

/// A trial in short, with the names of its variables.
fn record(run: &RunFolder, number: usize, listed: usize, trial: TrialFiles) -> TrialRecord {
    let space = run.spaces.of_trial(&trial.started.trial).cloned();
    TrialRecord::new(trial, number, space, listed)
}

/// Gives runs that cannot be compared names of experiments that differ; and methods and solvers that several runs have the
/// name of their run, but for methods that the experiment tells apart already.
fn tell_apart(runs: &mut [Vec<TrialRecord>], differences: &Differences) {
    let mut owners: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (run, record) in
        runs.iter().enumerate().flat_map(|(i, run)| run.iter().map(move |record| (i, record)))
    {
        let solvers = record.solvers.iter().map(|solver| format!("solver {}", solver.solver));
        for name in solvers.chain([format!("method {}", record.started.method)]) {
            owners.entry(name).or_default().insert(run);
        }
    }
    let Differences { labels, contexts, .. } = differences;
    let others = |name: &str, run: usize| owners[name].iter().copied().filter(move |&other| other != run);
    for (run, records) in runs.iter_mut().enumerate() {
        let (label, context) = (&labels[run], &contexts[run]);
        for record in records {
            let method = &mut record.started.method;
            if others(&format!("method {method}"), run).any(|other| contexts[other] == *context) {
                *method = format!("{label} · {method}");
            }
            for solver in record.solvers.iter_mut().map(|solver| &mut solver.solver) {
                if others(&format!("solver {solver}"), run).next().is_some() {
                    *solver = format!("{label} · {solver}");
                }
            }
            if !context.is_empty() {
                record.started.experiment = format!("{}, {context}", record.started.experiment);
            }
        }
    }
}

/// What folders are called beside each other: the end of their paths, as much of it as tells them apart.
fn folder_names(folders: &[PathBuf]) -> Vec<String> {
    let parts = |folder: &PathBuf| -> Vec<String> {
        let full = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        full.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let paths: Vec<Vec<String>> = folders.iter().map(parts).collect();
    let longest = paths.iter().map(Vec::len).max().unwrap_or(1);
    let named = |length: usize| -> Vec<String> {
        paths.iter().map(|parts| parts[parts.len().saturating_sub(length)..].join("/")).collect()
    };
    let distinct = |names: &[String]| (1..names.len()).all(|i| !names[..i].contains(&names[i]));
    let short = (1..=longest).map(named).find(|names| distinct(names));
    // The same folder twice cannot be told apart by its path.
    let number = || named(1).iter().enumerate().map(|(i, name)| format!("{name} ({})", i + 1)).collect();
    short.unwrap_or_else(number)
}

/// The deepest folder that all of them are in.
fn parting(folders: &[PathBuf]) -> PathBuf {
    let mut shared = folders.first().and_then(|folder| folder.parent()).unwrap_or(Path::new("")).to_owned();
    while !folders.iter().all(|folder| folder.starts_with(&shared)) {
        shared = shared.parent().unwrap_or(Path::new("")).to_owned();
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_by_as_much_as_tells_them_apart() {
        let name = |paths: &[&str]| folder_names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(name(&["/r/ising/a", "/r/ising/b"]), ["a", "b"]);
        assert_eq!(name(&["/r/ising/a", "/r/bqp/a"]), ["ising/a", "bqp/a"]);
        assert_eq!(name(&["/r/a", "/r/a"]), ["a (1)", "a (2)"]);
    }

    #[test]
    fn a_comparison_goes_where_the_paths_part() {
        let at = |paths: &[&str]| parting(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(at(&["r/ising/a", "r/ising/b"]), Path::new("r/ising"));
        assert_eq!(at(&["r/ising/a", "r/bqp/a"]), Path::new("r"));
        assert_eq!(at(&["a", "r/b"]), Path::new(""));
    }
}
