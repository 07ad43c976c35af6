//! A run that goes on beyond its plan: more evaluations, seeds or methods.
//!
//! The journals of a run that was planned so from the start differ in the plan's hash alone, and with it in the hash of
//! each line: they are written again with the new one, each replaced as a whole, without the end that is none any more.
//! `identity.json` says first what the run becomes, and last that it has: whenever it is interrupted, the next resume does
//! the rest. No evaluation is made before that.

use std::collections::BTreeMap;
use std::path::Path;

use plugin_api::Point;

use super::event::{Event, Outcome};
use super::folder::{cannot, write_points};
use super::identity::{Identity, PluginFile};
use super::journal::JOURNAL;
use super::spaces::Spaces;
use super::state::State;
use super::{Chain, PLAN, Programs, RecordError, RoundFile, TRIALS, chain, write_trials};
use crate::diagnostic::Diagnostic;
use crate::files;
use crate::manifest::Source;
use crate::manifest::keys::budget::Budget;
use crate::manifest::overrides::Overrides;
use crate::plan::{Plan, Shard, Trial, obstacles};
use crate::plugins::PluginArguments;

/// Brings an extension that was interrupted to its end, or takes back that it was begun where nothing has changed yet.
pub(super) fn settle(
    folder: &Path,
    mut identity: Identity,
    wanted: &Plan,
    shard: Option<Shard>,
    plugins: &PluginArguments,
) -> Result<Identity, Diagnostic> {
    let Some(next) = identity.becoming.clone() else { return Ok(identity) };
    if next == wanted.hash {
        return carry_over(folder, &identity, wanted, shard);
    }
    let there = plan_of(folder, plugins)?;
    if there.hash == next {
        return carry_over(folder, &identity, &there, shard);
    }
    // The plan is replaced before any journal is.
    let Identity { plugins, programs, .. } = Identity::of(&there)?;
    let had = |plugin: &PluginFile| {
        plugins.iter().any(|own| (&own.kind, &own.name) == (&plugin.kind, &plugin.name))
    };
    identity.plugins.retain(had);
    identity.programs.retain(|file| programs.iter().any(|own| own.name == file.name));
    identity.trials = Some(there.trials().count());
    identity.becoming = None;
    identity.write(folder)?;
    Ok(identity)
}

/// Makes a run one of this plan, which goes on with its own; refused where it does not.
pub(super) fn extend(
    folder: &Path,
    mut identity: Identity,
    wanted: &Plan,
    shard: Option<Shard>,
    programs: &Programs<'_>,
) -> Result<Identity, Diagnostic> {
    let another = || {
        let place = folder.display();
        Diagnostic::new(format!("{place} holds another experiment")).hint(format!(
            "more evaluations, seeds and methods extend a run, anything else is a new one; `host run --resume {place}` \
             goes on with its own plan"
        ))
    };
    let recorded = plan_of(folder, programs.plugins)?;
    if recorded.hash != identity.plan {
        return Err(another().because(
            "its plan.yaml is not the plan that it was begun with: it was changed, or another version of this program wrote it",
        ));
    }
    let obstacles = obstacles(&recorded, wanted);
    if !obstacles.is_empty() && crate::plan::obstacles(wanted, &recorded).is_empty() {
        let place = folder.display();
        return Err(Diagnostic::new(format!("{place} goes further than this manifest"))
            .because("it was extended: it has all that the manifest asks for, and more")
            .hint(format!("`host run --resume {place}` goes on with its own plan, and --set extends that")));
    }
    if !obstacles.is_empty() {
        return Err(another().because(obstacles.join("\n         ")));
    }
    refuse_other_parts(folder, &recorded, wanted, shard)?;
    if !programs.allow_changed {
        identity.check_recorded_programs(wanted)?;
    }
    // What cannot be read is found before anything is changed.
    for trial in recorded.part(shard) {
        let path = folder.join(TRIALS).join(trial.id().to_string()).join(JOURNAL);
        renamed(&path, &identity.plan, &wanted.hash, None)
            .map_err(|error| Diagnostic::new(error.to_string()))?;
    }
    let (had, has) = (recorded.trials().count(), wanted.trials().count());
    tracing::info!("extending {}: {has} trials instead of {had}", folder.display());
    Identity { plugins: identity.plugins, programs: identity.programs, .. } = Identity::of(wanted)?;
    identity.becoming = Some(wanted.hash.clone());
    identity.write(folder)?;
    carry_over(folder, &identity, wanted, shard)
}

/// With more seeds or methods the parts of a plan have other trials than before: what one has recorded would be another's.
fn refuse_other_parts(
    folder: &Path,
    recorded: &Plan,
    wanted: &Plan,
    shard: Option<Shard>,
) -> Result<(), Diagnostic> {
    let Some(part) = shard else { return Ok(()) };
    let trials = |plan: &Plan| plan.part(shard).iter().map(Trial::id).collect::<Vec<_>>();
    if trials(recorded) == trials(wanted) {
        return Ok(());
    }
    let place = folder.display();
    Err(Diagnostic::new(format!(
        "{place} is {} of its plan, and cannot have more seeds or methods",
        part.words()
    ))
    .because("the parts of a larger plan have other trials than those that are recorded here")
    .hint("`host merge` unites the parts, and `host run --resume` with --set extends what they become"))
}

/// The plan of a run's folder.
fn plan_of(folder: &Path, plugins: &PluginArguments) -> Result<Plan, Diagnostic> {
    let path = folder.join(PLAN);
    let text = files::read(&path).and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
    let text = text.map_err(|error| cannot("read", &path, error))?;
    let base = std::path::absolute(folder).map_err(|error| cannot("find", folder, error))?;
    let source = Source { label: path.display().to_string(), text, base };
    crate::plan::plan(&source, &Overrides::default(), plugins, &|_| ())
        .map_err(|mut mistakes| mistakes.swap_remove(0))
}

/// Everything after the identity has said what the run becomes. Each step may be there already.
fn carry_over(
    folder: &Path,
    identity: &Identity,
    plan: &Plan,
    shard: Option<Shard>,
) -> Result<Identity, Diagnostic> {
    let path = folder.join(PLAN);
    files::replace(&path, plan.yaml.as_bytes()).map_err(|error| cannot("write", &path, error))?;
    write_points(folder, plan)?;
    let trials = plan.part(shard);
    write_trials(folder, &trials).map_err(|error| Diagnostic::new(error.to_string()))?;
    Spaces::write(plan, folder)?;
    for trial in trials {
        let trial_folder = folder.join(TRIALS).join(trial.id().to_string());
        let more = More { total: trial.setting.evaluations(), budget: trial.setting.keys.budget };
        carry_over_trial(&trial_folder, &identity.plan, &plan.hash, more)
            .map_err(|error| Diagnostic::new(error.to_string()))?;
    }
    let extended = Identity { changed: identity.changed, ..Identity::of(plan)? };
    extended.write(folder)?;
    Ok(extended)
}

/// How far a trial is to go.
#[derive(Clone, Copy)]
struct More {
    /// All evaluations, given ones among them.
    total: usize,
    budget: Budget,
}

/// Gives a trial's journal, and its saved state, the new plan's hash.
fn carry_over_trial(folder: &Path, from: &str, to: &str, more: More) -> Result<(), RecordError> {
    let path = folder.join(JOURNAL);
    // Nothing else may be writing to it.
    let _held = match files::open(&path, files::Access::Read) {
        Ok(_) => super::journal::hold(&path)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RecordError::cannot("read", &path)(error)),
    };
    let Some(renamed) = renamed(&path, from, to, Some(more))? else { return Ok(()) };
    // Nothing is lost of a round that goes on: its results wait for those that are still to come.
    let mut round = RoundFile::open(folder);
    for (evaluation, point, outcome) in &renamed.waiting {
        round.add(*evaluation, point, outcome)?;
    }
    // Before the journal: where that is not replaced after all, the state is no journal's, and passed over.
    if let Some(state) = State::read(folder)
        && let Some((_, hash)) = renamed.hashes.iter().find(|(old, _)| old.hash() == state.journal)
    {
        let moved = State { journal: hash.hash().to_owned(), ..state };
        moved.write(folder).map_err(RecordError::cannot("write", folder))?;
    }
    files::replace(&path, renamed.text.as_bytes()).map_err(RecordError::cannot("write", &path))
}

/// A journal with another plan's hash.
struct Renamed {
    text: String,
    /// Of each line, the hash that it had and the one that it has.
    hashes: Vec<(Chain, Chain)>,
    /// Results that are in the journal no more, because their round has more points.
    waiting: Vec<(usize, Point, Outcome)>,
}

/// The journal of a trial with the hash `to` instead of `from`; without its end, where the budget goes beyond it. `None`
/// where there is no journal, nothing in it yet, or `to` in it already.
fn renamed(path: &Path, from: &str, to: &str, more: Option<More>) -> Result<Option<Renamed>, RecordError> {
    let bytes = match files::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RecordError::cannot("read", path)(error)),
    };
    let events = chain::read(path, &bytes).map_err(|broken| RecordError(broken.to_string()))?;
    let Some((Event::Started(started), _)) = events.first() else { return Ok(None) };
    if started.plan == to {
        return Ok(None);
    }
    if started.plan != from {
        return Err(RecordError(format!("{}:1: this is the journal of another plan", path.display())));
    }
    let names = |hash: &str| format!("\"plan\":\"{hash}\"");
    let text = String::from_utf8_lossy(&bytes);
    let mut renamed = Renamed { text: String::new(), hashes: Vec::new(), waiting: Vec::new() };
    let mut new = Chain::default();
    // What is asked and told has no rounds.
    let rounds = more.filter(|_| !started.asked);
    let goes_on = rounds.and_then(|more| round_that_goes_on(&events, more.budget)).unwrap_or(events.len());
    let mut points: BTreeMap<usize, Point> = BTreeMap::new();
    for (i, (line, (event, old))) in text.lines().zip(&events).enumerate() {
        let short = |evaluations: usize| more.is_some_and(|more| evaluations < more.total);
        match event {
            Event::Recommended(recommended) if short(recommended.evaluations) => break,
            Event::Finished(finished) if short(finished.evaluations) => break,
            Event::Evaluating(begun) => {
                points.insert(begun.evaluation, begun.point.clone());
            }
            Event::Evaluated(ended) if i >= goes_on => {
                let point = points.get(&ended.evaluation).cloned();
                renamed.waiting.extend(point.map(|point| (ended.evaluation, point, ended.outcome())));
                continue;
            }
            _ => {}
        }
        let words = chain::words(line).ok_or_else(|| RecordError(format!("{}: no hash", path.display())))?;
        let line = match i {
            0 => new.append_words(&words.replacen(&names(from), &names(to), 1)),
            _ => new.append_words(words),
        };
        renamed.text.push_str(&line);
        renamed.text.push('\n');
        renamed.hashes.push((*old, new));
    }
    Ok(Some(renamed))
}

/// Where the last round of a search begins, where it was cut short by the budget and has more points under this one.
fn round_that_goes_on(events: &[(Event, Chain)], budget: Budget) -> Option<usize> {
    let proposals = events.iter().enumerate().filter_map(|(i, (event, _))| match event {
        Event::Proposed(proposed) => Some((i, proposed.iteration)),
        _ => None,
    });
    let begins = |&(_, iteration): &(usize, usize)| (iteration - 1).is_multiple_of(budget.batch);
    let (at, first) = proposals.clone().rfind(begins)?;
    let (_, last) = proposals.clone().next_back()?;
    let wanted = (first + budget.batch - 1).min(budget.evaluations);
    (last < wanted).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::super::Journal;
    use super::super::event::examples;
    use super::*;

    fn more(total: usize) -> More {
        More { total, budget: Budget { initial: 1, evaluations: total, batch: 1 } }
    }

    /// The events of a trial of this plan, written as a trial writes them.
    fn written(folder: &Path, plan: &str, count: usize) -> String {
        let mut journal = Journal::open(folder, false).unwrap();
        for event in &examples()[..count] {
            let event = match event.clone() {
                Event::Started(started) => {
                    Event::Started(super::super::event::Started { plan: plan.to_owned(), ..started })
                }
                event => event,
            };
            journal.record(&event).unwrap();
        }
        std::fs::read_to_string(folder.join(JOURNAL)).unwrap()
    }

    #[test]
    fn a_journal_with_another_hash_is_what_that_plan_would_have_written() {
        let all = examples().len();
        for (count, budget, left) in
            [(all, 4, all), (all, 5, all - 2), (all - 1, 5, all - 2), (all - 3, 5, all - 3), (1, 4, 1)]
        {
            let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            written(one.path(), "old", count);
            carry_over_trial(one.path(), "old", "new", more(budget)).unwrap();
            let text = std::fs::read_to_string(one.path().join(JOURNAL)).unwrap();
            assert_eq!(text, written(other.path(), "new", left));
            // Again, it is what it is.
            carry_over_trial(one.path(), "old", "new", more(budget)).unwrap();
            assert_eq!(std::fs::read_to_string(one.path().join(JOURNAL)).unwrap(), text);
        }
    }

    #[test]
    fn a_saved_state_stays_that_of_its_journal() {
        let folder = tempfile::tempdir().unwrap();
        written(folder.path(), "old", 6);
        let evaluations = 2;
        let hash_after = || {
            let journal = Journal::open(folder.path(), false).unwrap();
            journal.hash_after(evaluations).map(str::to_owned)
        };
        let before = hash_after().unwrap();
        State { evaluations, journal: before.clone(), bytes: vec![7] }.write(folder.path()).unwrap();
        carry_over_trial(folder.path(), "old", "new", more(9)).unwrap();
        let state = State::read(folder.path()).unwrap();
        assert_eq!((Some(state.journal.clone()), state.bytes), (hash_after(), vec![7]));
        assert_ne!(state.journal, before);
    }

    #[test]
    fn a_journal_of_a_third_plan_or_a_changed_one_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let text = written(folder.path(), "third", 5);
        let error = carry_over_trial(folder.path(), "old", "new", more(9)).unwrap_err().to_string();
        assert!(error.ends_with("journal.jsonl:1: this is the journal of another plan"), "{error}");
        let changed = text.replacen("too hot", "too cold", 1);
        std::fs::write(folder.path().join(JOURNAL), &changed).unwrap();
        assert!(carry_over_trial(folder.path(), "third", "new", more(9)).is_err());
        assert_eq!(std::fs::read_to_string(folder.path().join(JOURNAL)).unwrap(), changed);
        carry_over_trial(&folder.path().join("nowhere"), "old", "new", more(9)).unwrap();
    }
}
