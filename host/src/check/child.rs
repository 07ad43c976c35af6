//! The process that loads the plugin and goes through the rules.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use plugin_api::load::Plugin;
use plugin_api::testing::{
    Verdict, examine_benchmark, examine_encoder, examine_solver, examine_surrogate, random_quadratic,
};
use plugin_api::{
    AcquisitionKind, Benchmark, DrawRequest, Encoder, ErrorKind, Kind, Layout, Problem, Result, Solver,
    Space, Surrogate, rng,
};
use serde_json::Value as Json;

use super::{Judged, Message, options};
use crate::plugins::locate::Folders;

/// The seed of a benchmark's instance.
const INSTANCE: u64 = 1;

/// Goes through all rules; every line of it begins with `mark`.
pub fn child(kind: Kind, path: &Path, options: &Json, folders: &Folders, mark: &str) -> ExitCode {
    let say = |message: &Message| {
        let text = serde_json::to_string(message).expect("a message is plain data");
        // One write: a plugin may print from another thread.
        let _ = std::io::stdout().write_all(format!("{mark}{text}\n").as_bytes());
        let _ = std::io::stdout().flush();
    };
    let judge = |promise: &str, words: &str, broken: Option<String>| {
        say(&Message::Verdict(Judged::new(promise, words, broken)));
    };
    let words = "the file is a plugin of its kind, named as its file is, that this host can load";
    let plugin = match folders.open(kind, path) {
        Ok((plugin, _)) => plugin,
        Err(error) => {
            judge("loads", words, Some(error.to_string()));
            say(&Message::Done);
            return ExitCode::SUCCESS;
        }
    };
    let description = plugin.description();
    say(&Message::Loaded { name: description.name.clone(), version: description.version.clone() });
    let (file, expected) = (path.file_name().unwrap_or_default(), kind.file_name(&description.name));
    let misnamed = (file != expected.as_str())
        .then(|| format!("it calls itself `{}`, which is looked for in {expected}", description.name));
    judge("loads", words, misnamed);

    say(&Message::Call("making it".to_owned()));
    if let Err(error) = make(&plugin, options) {
        let is_needed =
            error.kind() == ErrorKind::Options && options.as_object().is_some_and(|all| all.is_empty());
        match is_needed && options::is_empty_default(description, error.path()) {
            true => say(&Message::Needs(error.to_string())),
            false => judge("defaults", options::DEFAULTS, Some(error.to_string())),
        }
        say(&Message::Done);
        return ExitCode::SUCCESS;
    }
    judge("defaults", options::DEFAULTS, None);
    let judged = options::judge(description, options, &|given| {
        say(&Message::Call(format!("making it with {given}")));
        make(&plugin, given)
    });
    for verdict in judged {
        say(&Message::Verdict(verdict));
    }
    let watch = |call: &str| say(&Message::Call(call.to_owned()));
    let examined = catch_unwind(AssertUnwindSafe(|| examine(&plugin, options, &watch)));
    match examined {
        Ok(verdicts) => {
            for Verdict { promise, words, broken } in &verdicts {
                judge(promise, words, broken.clone());
            }
            if verdicts.iter().all(|verdict| verdict.broken.is_none()) {
                watch("measuring it");
                if let Ok(Some((call, seconds))) = time(&plugin, options) {
                    say(&Message::Time { call, seconds });
                }
            }
        }
        // A general function that panics does so here too, when its value is asked for.
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words");
            judge("answers", "every call is answered, without an error or a panic", Some(words.to_owned()));
        }
    }
    say(&Message::Done);
    ExitCode::SUCCESS
}

/// Makes one, for the least that it can be made for.
fn make(plugin: &Plugin, options: &Json) -> Result<()> {
    match plugin.description().kind {
        Kind::Benchmark => plugin.benchmark(options, INSTANCE).map(drop),
        Kind::Encoder => plugin.encoder(options, &Space::binary(3)).map(drop),
        Kind::Surrogate => plugin.surrogate(options, &Layout::free(3)).map(drop),
        Kind::Solver => plugin.solver(options).map(drop),
    }
}

fn examine(plugin: &Plugin, options: &Json, watch: &dyn Fn(&str)) -> Vec<Verdict> {
    match plugin.description().kind {
        Kind::Benchmark => examine_benchmark(|| plugin.benchmark(options, INSTANCE), watch),
        Kind::Encoder => {
            // That a space does not suit it is no fault.
            let make = |space: &Space| match plugin.encoder(options, space) {
                Ok(encoder) => Ok(Some(encoder)),
                Err(error) if error.kind() == ErrorKind::Failed => Ok(None),
                Err(error) => Err(error),
            };
            examine_encoder(make, watch)
        }
        Kind::Surrogate => examine_surrogate(|layout| plugin.surrogate(options, layout), watch),
        Kind::Solver => examine_solver(|| plugin.solver(options), watch),
    }
}

/// How long a typical call takes.
fn time(plugin: &Plugin, options: &Json) -> Result<Option<(String, f64)>> {
    const CALLS: usize = 10;
    let measure = |call: &mut dyn FnMut(u64) -> Result<()>| -> Result<f64> {
        let begun = Instant::now();
        (0..CALLS as u64).try_for_each(call)?;
        Ok(begun.elapsed().as_secs_f64() / CALLS as f64)
    };
    let rng = &mut rng(1);
    Ok(match plugin.description().kind {
        Kind::Benchmark => {
            let mut benchmark = plugin.benchmark(options, INSTANCE)?;
            let space = benchmark.space()?;
            let mut random = (0..10_000).map(|_| space.random_point(rng));
            let Some(point) = random.find(|point| space.admits(point)) else { return Ok(None) };
            let seconds = measure(&mut |seed| benchmark.evaluate(&point, seed).map(drop))?;
            Some(("an evaluation".to_owned(), seconds))
        }
        Kind::Encoder => {
            let space = Space::binary(20);
            let Ok(encoder) = plugin.encoder(options, &space) else { return Ok(None) };
            let point = space.random_point(rng);
            let seconds =
                measure(&mut |_| encoder.encode(&point).and_then(|bits| encoder.decode(&bits)).map(drop))?;
            Some(("encoding 20 bits and back".to_owned(), seconds))
        }
        Kind::Surrogate => {
            let layout = Layout::free(20);
            let mut surrogate = plugin.surrogate(options, &layout)?;
            let seconds = measure(&mut |seed| {
                let bits = layout.random(&mut plugin_api::rng(seed));
                surrogate.observe(&bits, &(bits.count_ones() as f64).into())?;
                surrogate.draw(&DrawRequest::new(seed)).map(drop)
            })?;
            Some(("observing a point of 20 bits and a draw, with up to 10 points".to_owned(), seconds))
        }
        Kind::Solver => {
            let mut solver = plugin.solver(options)?;
            if !solver.takes(AcquisitionKind::Quadratic) {
                return Ok(None);
            }
            let problem = Problem::new(random_quadratic(rng, 20));
            let seconds = measure(&mut |seed| solver.minimize(&problem, seed).map(drop))?;
            Some(("a quadratic problem of 20 bits".to_owned(), seconds))
        }
    })
}
