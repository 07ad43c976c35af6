//! A program that is started for each point: the value is the last line that it prints.

use std::io::Read;
use std::process::Stdio;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

use plugin_api::serde_json::Value;
use plugin_api::{Error, Evaluation, Result};

use crate::options::Pass;
use crate::persistent::seed;
use crate::program::{LINGER, Program, ending, thread};
use shared_named_levels::text;

/// The environment variable that has the evaluation's seed.
const SEED: &str = "HOST_SEED";

/// What a program prints instead of a value, with or without `: reason`.
const INFEASIBLE: &str = "infeasible";

/// How much of the output's end is kept.
const TAIL: usize = 1 << 16;

/// How to ask, and how to read the answer.
#[derive(Debug)]
pub(crate) struct Once {
    pub(crate) pass: Pass,
    pub(crate) infeasible_exit_code: Option<i32>,
}

impl Once {
    pub(crate) fn evaluate<'a>(
        &self,
        program: &Program,
        point: impl Iterator<Item = (&'a str, &'a Value)>,
        number: u64,
    ) -> Result<Evaluation> {
        let mut command = program.command();
        command.stdin(Stdio::null()).env(SEED, seed(number).to_string());
        for (name, level) in point {
            match self.pass {
                Pass::Arguments => command.arg(format!("--{name}={}", text(level))),
                Pass::Environment => command.env(name, text(level)),
            };
        }
        let (mut running, said) = program.start(&mut command)?;
        let output = running.child.stdout.take();
        let tail = Arc::new(Mutex::new(Vec::new()));
        let (sender, ended) = sync_channel(1);
        let kept = tail.clone();
        thread(move || {
            let (mut output, mut buffer) = (output, [0; 8192]);
            while let Some(output) = &mut output {
                let Ok(length @ 1..) = output.read(&mut buffer) else { break };
                let tail = &mut *kept.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(&buffer[..length]);
                let excess = tail.len().saturating_sub(2 * TAIL);
                if excess > 0 {
                    tail.drain(..tail.len() - TAIL);
                }
            }
            let _ = sender.send(());
        })?;
        let status = running.wait();
        let _ = ended.recv_timeout(LINGER);
        let printed =
            String::from_utf8_lossy(&tail.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty());
        let fail = |what: String| Err(Error::new(format!("the program {what}{}", said.last_words())));
        let code = status.as_ref().ok().and_then(std::process::ExitStatus::code);
        match (code, last) {
            (Some(code), last) if self.infeasible_exit_code == Some(code) => {
                let reason = last.map(|line| reason(line).unwrap_or(line.to_owned()));
                Ok(Evaluation::infeasible(reason.unwrap_or_else(|| format!("exit code {code}"))))
            }
            (Some(0), Some(last)) => match (last.parse::<f64>(), reason(last)) {
                (Ok(value), _) if value.is_finite() => Ok(value.into()),
                (_, Some(reason)) => Ok(Evaluation::Infeasible(reason)),
                _ => fail(format!("printed `{}` as its last line, which is no value", shown(last))),
            },
            (Some(0), None) => {
                fail("ended without a line on its output, and the last one is the value".to_owned())
            }
            _ => fail(ending(status)),
        }
    }
}

/// Why a point is infeasible, where the line says that it is.
fn reason(line: &str) -> Option<String> {
    match line.strip_prefix(INFEASIBLE)?.strip_prefix(':') {
        Some(reason) => Some(reason.trim().to_owned()),
        None if line == INFEASIBLE => Some("the program gave no reason".to_owned()),
        None => None,
    }
}

fn shown(line: &str) -> String {
    line.chars().take(200).collect()
}
