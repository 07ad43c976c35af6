//! A process that evaluates points, one after the other, for the trial that started it.
//!
//! It is asked in lines of JSON on its standard input, and answers on its standard output. When the input ends, it ends at
//! once with all that it has started. A plugin sees neither.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};

use super::child::{Words, beat, limit_memory, take_input};
use super::processes::{end_all, wake_without_parent};
use super::protocol::{Message, Request};
use super::thread;
use crate::plan::TrialId;
use crate::plugins::PluginArguments;
use crate::trial::{OpenBenchmark, evaluate};

/// Evaluates what it is asked to, attached to the process that started this one.
pub fn worker(folder: &Path, id: &TrialId, plugins: &PluginArguments, trust: bool) -> ExitCode {
    wake_without_parent();
    let words = Arc::new(Words::take_over());
    let requests = match listen().and_then(|requests| beat(words.clone()).map(|()| requests)) {
        Ok(requests) => requests,
        Err(error) => {
            words.say(&Message::Failed { reason: format!("the system has no thread left: {error}") });
            return 1.into();
        }
    };
    let opened = OpenBenchmark::open(folder, id, plugins, trust).map_err(|error| error.to_string());
    let opened = opened.and_then(|opened| limit_memory(opened.memory).map(|()| opened));
    let mut benchmark = match opened {
        Ok(opened) => opened.benchmark,
        Err(reason) => {
            words.say(&Message::Failed { reason });
            return 1.into();
        }
    };
    for Request { evaluation, point, seed } in requests {
        let outcome = evaluate(benchmark.as_mut(), &point, seed);
        words.say(&Message::Evaluated { evaluation, outcome });
    }
    0.into()
}

/// The requests, until the input ends: then this process ends, whatever it is at.
fn listen() -> std::io::Result<mpsc::Receiver<Request>> {
    let input = BufReader::new(take_input()?);
    let (sender, requests) = mpsc::channel();
    thread(move || {
        for line in input.lines().map_while(Result::ok) {
            if let Ok(request) = serde_json::from_str(&line) {
                let _ = sender.send(request);
            }
        }
        end_all();
    })?;
    Ok(requests)
}
