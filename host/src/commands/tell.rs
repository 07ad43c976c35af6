//! `host tell`: what the evaluations of points gave.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use plugin_api::{Point, Space};
use serde_json::Value as Json;

use super::ask::{hold, open, refused};
use super::{print, refuse};
use crate::cli::{Changes, TellArguments};
use crate::diagnostic::{Diagnostic, Place, nearest};
use crate::files::json::Unambiguous;
use crate::plan::points::{Known, level, read};
use crate::record::event::Outcome;
use crate::text::number;
use crate::trial::{Dialogue, Told, TrialError};

/// A result, and whose it is.
struct Finding {
    place: Place,
    evaluation: Option<usize>,
    point: Option<Point>,
    known: Known,
}

pub(super) fn tell(arguments: &TellArguments) -> ExitCode {
    match try_tell(arguments) {
        Ok(words) => print(&words),
        Err(diagnostics) => refuse(&diagnostics),
    }
}

fn try_tell(arguments: &TellArguments) -> Result<String, Vec<Diagnostic>> {
    let folder = &arguments.folder;
    let texts = read_texts(&arguments.results).map_err(|diagnostic| vec![diagnostic])?;
    let (changes, allow_changed) = (Changes::none(&arguments.plugins), arguments.allow_changed_plugins);
    let _lock = hold(folder, &changes, allow_changed)?;
    let mut trial = open(folder, &arguments.plugins, allow_changed).map_err(|diagnostic| vec![diagnostic])?;
    let mut mistakes = Vec::new();
    let told = trial.talk(|dialogue| {
        let results = results(arguments, &texts, dialogue.space(), &mut mistakes);
        if mistakes.is_empty() {
            check(&results, dialogue, folder, &mut mistakes);
        }
        if !mistakes.is_empty() {
            return Ok(String::new());
        }
        record(results, dialogue)
    });
    match told {
        Ok(words) if mistakes.is_empty() => Ok(words),
        Ok(_) => Err(mistakes),
        Err(error) => Err(vec![refused(folder, error)]),
    }
}

/// The arguments that are files, or `-`, with what is in them.
fn read_texts(arguments: &[String]) -> Result<Vec<(String, String)>, Diagnostic> {
    let mut texts = Vec::new();
    for name in arguments.iter().filter(|argument| !argument.contains('=') || Path::new(argument).is_file()) {
        let mut text = String::new();
        let read = match &name[..] {
            "-" => std::io::stdin().read_to_string(&mut text),
            name => std::fs::File::open(name).and_then(|mut file| file.read_to_string(&mut text)),
        };
        let label = if name == "-" { "<stdin>".to_owned() } else { name.clone() };
        read.map_err(|error| {
            let what = Diagnostic::new(format!("cannot read {label}")).because(error);
            what.hint("a result is EVALUATION=VALUE, such as 4=0.71, or stands in a CSV file")
        })?;
        texts.push((label, text));
    }
    Ok(texts)
}

/// Everything that is told, in the order of the arguments; what is wrong with it goes to `mistakes`.
fn results(
    arguments: &TellArguments,
    texts: &[(String, String)],
    space: &Space,
    mistakes: &mut Vec<Diagnostic>,
) -> Vec<Finding> {
    let mut results = Vec::new();
    for argument in arguments.results.iter().filter(|argument| argument.contains('=')) {
        if Path::new(argument).is_file() {
            continue;
        }
        let place = Place::Argument(argument.clone());
        match of_argument(argument) {
            Ok((evaluation, known)) => {
                results.push(Finding { place, evaluation: Some(evaluation), point: None, known });
            }
            Err(what) => mistakes.push(Diagnostic { place: Some(place), ..what }),
        }
    }
    for (label, text) in texts {
        let of_text = match text.trim_start().starts_with(['{', '[']) {
            true => of_json(label, text, space),
            false => of_csv(label, text, space),
        };
        match of_text {
            Ok(more) => results.extend(more),
            Err(wrong) => mistakes.extend(wrong),
        }
    }
    if let Some(words) = &arguments.point {
        let place = Place::Argument(format!("--point {words}"));
        let known = arguments.value.map(Known::Value);
        let known = known.or_else(|| arguments.infeasible.clone().map(Known::Infeasible));
        let known = known.or_else(|| arguments.failed.clone().map(Known::Failed));
        match (of_words(words, space), known) {
            (Ok(point), Some(known)) => {
                results.push(Finding { place, evaluation: None, point: Some(point), known });
            }
            (Ok(_), None) => {
                let what = Diagnostic::new("a point without a result")
                    .hint("--value, --infeasible or --failed says it");
                mistakes.push(Diagnostic { place: Some(place), ..what });
            }
            (Err(wrong), _) => {
                mistakes
                    .extend(wrong.into_iter().map(|what| Diagnostic { place: Some(place.clone()), ..what }));
            }
        }
    }
    if results.is_empty() && mistakes.is_empty() {
        let what = Diagnostic::new("nothing is told");
        mistakes.push(
            what.hint("EVALUATION=VALUE, a CSV file, - for the standard input, or --point with --value"),
        );
    }
    results
}

/// `4=0.71`, `5=infeasible`, `6=failed: spilt`.
fn of_argument(argument: &str) -> Result<(usize, Known), Diagnostic> {
    let (evaluation, words) = argument.split_once('=').expect("it has one");
    let evaluation = evaluation.trim().parse().map_err(|_| {
        Diagnostic::new(format!("`{evaluation}` is no number of an evaluation"))
            .hint("EVALUATION=VALUE, such as 4=0.71; --point tells of a point that nobody asked for")
    })?;
    let (word, reason) = words.split_once(':').unwrap_or((words, ""));
    let reason = reason.trim().to_owned();
    let known = match word.trim() {
        "infeasible" => Known::Infeasible(reason),
        "failed" => Known::Failed(reason),
        _ => Known::Value(finite(words).ok_or_else(|| {
            Diagnostic::new(format!("`{words}` is no finite number"))
                .hint("or `infeasible` or `failed`, with `: reason` behind it if there is one")
        })?),
    };
    Ok((evaluation, known))
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// `solvent=water,dose=1`.
fn of_words(words: &str, space: &Space) -> Result<Point, Vec<Diagnostic>> {
    let pairs = words.split(',').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    of_pairs(pairs.map(|(name, level)| (name.trim(), level.trim().to_owned())).collect(), space)
}

fn of_pairs(pairs: Vec<(&str, String)>, space: &Space) -> Result<Point, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let names = || space.variables().iter().map(|variable| variable.name());
    let mut levels = vec![None; space.dimension()];
    for (name, text) in pairs {
        let Some(at) = names().position(|known| known == name) else {
            let what = Diagnostic::new(format!("`{name}` is no variable of this objective"));
            let meant = nearest(name, names()).map(|name| format!("did you mean `{name}`?"));
            mistakes.push(Diagnostic { hint: meant, ..what });
            continue;
        };
        levels[at] = level(&space.variables()[at], &text);
        if levels[at].is_none() {
            let what = Diagnostic::new(format!("`{text}` is no level of `{name}`"));
            let known = space.variables()[at].levels().join(", ");
            mistakes.push(what.hint(format!("its levels are {known}")));
        }
    }
    if mistakes.is_empty() {
        let missing = names().zip(&levels).filter(|(_, level)| level.is_none());
        mistakes.extend(missing.map(|(name, _)| Diagnostic::new(format!("no level of `{name}`"))));
    }
    let point: Point = levels.into_iter().flatten().collect();
    if mistakes.is_empty() && !space.admits(&point) {
        mistakes.push(Diagnostic::new("this point breaks a constraint of the objective"));
    }
    if mistakes.is_empty() { Ok(point) } else { Err(mistakes) }
}

/// A table; lines without a result are still under way.
fn of_csv(label: &str, text: &str, space: &Space) -> Result<Vec<Finding>, Vec<Diagnostic>> {
    let rows = read(label, text, space, true)?.rows.into_iter();
    // With a point, a number is not needed; that of another run would mean nothing.
    let result = |row: crate::plan::points::Row| {
        let known = row.known?;
        Some(Finding { place: row.place, evaluation: row.evaluation, point: row.point, known })
    };
    Ok(rows.filter_map(result).collect())
}

/// Objects, one a line or in a list: `{"evaluation": 4, "value": 0.71}`, or with a `point` of names to levels.
fn of_json(label: &str, text: &str, space: &Space) -> Result<Vec<Finding>, Vec<Diagnostic>> {
    let mut objects = Vec::new();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Unambiguous>();
    loop {
        // Of a list, the place is where it begins.
        let before = &text[..values.byte_offset()];
        let space = text[before.len()..].len() - text[before.len()..].trim_start().len();
        let line = text[..before.len() + space].matches('\n').count() + 1;
        match values.next() {
            None => break,
            Some(Ok(Unambiguous(Json::Array(list)))) => {
                objects.extend(list.into_iter().map(|value| (line, value)))
            }
            Some(Ok(Unambiguous(value))) => objects.push((line, value)),
            Some(Err(error)) => {
                let place = Some(Place::File(label.to_owned(), error.line(), error.column()));
                let what = Diagnostic::new("these are no results in JSON").because(error);
                return Err(vec![Diagnostic { place, ..what }]);
            }
        }
    }
    let (mut results, mut mistakes) = (Vec::new(), Vec::new());
    for (line, object) in &objects {
        let place = Place::File(label.to_owned(), *line, 1);
        match of_object(object, space) {
            Ok((evaluation, point, known)) => {
                results.push(Finding { place, evaluation, point, known });
            }
            Err(wrong) => {
                mistakes
                    .extend(wrong.into_iter().map(|what| Diagnostic { place: Some(place.clone()), ..what }));
            }
        }
    }
    if mistakes.is_empty() { Ok(results) } else { Err(mistakes) }
}

type Object = (Option<usize>, Option<Point>, Known);

fn of_object(object: &Json, space: &Space) -> Result<Object, Vec<Diagnostic>> {
    let wrong = |what: &str| vec![Diagnostic::new(what.to_owned())];
    let keys = object.as_object().ok_or_else(|| wrong("a result is an object"))?;
    const KNOWN: &[&str] = &["evaluation", "point", "value", "infeasible", "failed"];
    if let Some(key) = keys.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        let what = Diagnostic::new(format!("unknown key `{key}`"));
        return Err(vec![what.hint("keys here are `evaluation`, `point`, `value`, `infeasible`, `failed`")]);
    }
    let evaluation = match keys.get("evaluation") {
        None | Some(Json::Null) => None,
        Some(number) => {
            let number = number.as_u64().and_then(|number| usize::try_from(number).ok());
            Some(number.ok_or_else(|| wrong("`evaluation` is a whole number"))?)
        }
    };
    let point = match keys.get("point") {
        None | Some(Json::Null) => None,
        Some(Json::Object(point)) => {
            let word = |level: &Json| level.as_str().map_or_else(|| level.to_string(), str::to_owned);
            Some(of_pairs(point.iter().map(|(name, level)| (name.as_str(), word(level))).collect(), space)?)
        }
        Some(_) => return Err(wrong("`point` is an object of variables and levels")),
    };
    let reason = |key: &str| match keys.get(key) {
        None | Some(Json::Null | Json::Bool(false)) => None,
        Some(Json::String(reason)) => Some(reason.clone()),
        Some(_) => Some(String::new()),
    };
    let value = keys.get("value").filter(|value| !value.is_null());
    let all = [
        value.map(|value| value.as_f64().map(Known::Value)),
        reason("infeasible").map(|reason| Some(Known::Infeasible(reason))),
        reason("failed").map(|reason| Some(Known::Failed(reason))),
    ];
    let mut all = all.into_iter().flatten();
    match (all.next(), all.next()) {
        _ if evaluation.is_none() && point.is_none() => Err(wrong("neither `evaluation` nor `point`")),
        (Some(Some(known)), None) => Ok((evaluation, point, known)),
        (Some(None), _) => Err(wrong("`value` is a number")),
        (None, _) => Err(wrong("no `value`, `infeasible` or `failed`")),
        (Some(_), Some(_)) => Err(wrong("an evaluation has a value, or is infeasible, or failed")),
    }
}

/// Everything is checked before anything is recorded: beside what is known, and beside the rest of it.
fn check(results: &[Finding], dialogue: &Dialogue<'_>, folder: &Path, mistakes: &mut Vec<Diagnostic>) {
    let mut seen: BTreeMap<Whose<'_>, &Known> = BTreeMap::new();
    for Finding { place, evaluation, point, known } in results {
        if let Some(whose) = whose(*evaluation, point.as_ref(), dialogue)
            && *seen.entry(whose).or_insert(known) != known
        {
            let what = Diagnostic::new("this is told twice, and not in the same words");
            mistakes.push(Diagnostic { place: Some(place.clone()), ..what });
            continue;
        }
        let outcome = Outcome::from(known);
        let refused_as = match (evaluation, point) {
            (Some(evaluation), None) => dialogue.refuses(*evaluation, &outcome),
            (_, Some(point)) => dialogue.refuses_point(point, &outcome),
            (None, None) => None,
        };
        if let Some(error) = refused_as {
            mistakes.push(Diagnostic { place: Some(place.clone()), ..refused(folder, error) });
        }
    }
}

/// What has one result. A point of a noisy objective may have several.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Whose<'a> {
    Evaluation(usize),
    Point(&'a [u32]),
}

fn whose<'a>(
    evaluation: Option<usize>,
    point: Option<&'a Point>,
    dialogue: &'a Dialogue<'_>,
) -> Option<Whose<'a>> {
    let of_number = evaluation.filter(|_| point.is_none());
    if !dialogue.deterministic() {
        return of_number.map(Whose::Evaluation);
    }
    let point = point.or_else(|| of_number.and_then(|evaluation| dialogue.point_of(evaluation)));
    point.map(|point| Whose::Point(point)).or(of_number.map(Whose::Evaluation))
}

fn record(results: Vec<Finding>, dialogue: &mut Dialogue<'_>) -> Result<String, TrialError> {
    let (mut new, mut known) = (0, 0);
    for result in results {
        let outcome = Outcome::from(&result.known);
        let told = match (result.evaluation, &result.point) {
            (Some(evaluation), None) => dialogue.tell(evaluation, outcome)?,
            (_, Some(point)) => dialogue.take(point, outcome)?,
            (None, None) => continue,
        };
        match told {
            Told::New(_) => new += 1,
            Told::Known(_) => known += 1,
        }
    }
    let mut words = vec![format!("{new} told")];
    words.extend((known > 0).then(|| format!("{known} known already")));
    words.push(format!("{} under way", dialogue.pending().len()));
    if let Some((total, point)) = dialogue.best() {
        words.push(format!("best so far {} at {}", number(Some(total)), dialogue.space().describe(point)));
    }
    Ok(words.join("; "))
}
