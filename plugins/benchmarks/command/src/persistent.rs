//! A program that lives as long as its trial, and answers a line of JSON to each line of JSON.
//!
//! First a hello each way, with the version of this protocol; in its own, the program may say its variables, their sense and
//! whether it is deterministic. Then, for each evaluation, a point and a seed go in, and a value, `infeasible` or `error`
//! comes out. After any answer that is none, the program is ended, and started again for the next evaluation.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use plugin_api::serde_json::{self, Map, Value, json};
use plugin_api::{Error, Evaluation, Result};

use crate::options::Direction;
use crate::program::{LINGER, LONGEST_LINE, Program, Running, Said, ending, thread};

/// The version of the protocol.
const PROTOCOL: u64 = 1;

/// In the environment of a program: whatever it prints from its first line on may be taken for an answer. `workbench.py` takes
/// the output over when it is imported, where it finds this.
const STARTED: &str = "HOST_PROTOCOL";

const NOT_SERVED: &str = "a script in Python ends with `if __name__ == \"__main__\": NAME.serve()`, with the name of its \
                          @objective; `mode: once` is for programs that print a value and end";
const PRINTED: &str = "its standard output is for answers alone: print to the error output, or in Python import workbench \
                       before anything prints; `mode: once` is for programs that know nothing of the protocol";

/// Why a program cannot be asked, and what to do where that is known.
pub(crate) type NoHello = (Error, Option<&'static str>);

/// What a program says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hello {
    pub(crate) variables: Option<Map<String, Value>>,
    pub(crate) ordered: Vec<String>,
    pub(crate) sense: Option<Direction>,
    pub(crate) deterministic: Option<bool>,
}

/// A program that has said hello.
pub(crate) struct Conversation {
    running: Running,
    said: Said,
    answers: Receiver<String>,
}

impl Conversation {
    /// Starts the program and greets it.
    pub(crate) fn begin(program: &Program, instance: u64, limit: Duration) -> Result<(Self, Hello), NoHello> {
        let mut conversation = Self::open(program).map_err(|error| (error, None))?;
        match conversation.greet(instance, limit) {
            Ok(hello) => Ok((conversation, hello)),
            Err(why) => Err(conversation.end(&why)),
        }
    }

    fn open(program: &Program) -> Result<Self> {
        let mut command = program.command();
        command.stdin(Stdio::piped()).env(STARTED, PROTOCOL.to_string());
        let (mut running, said) = program.start(&mut command)?;
        let output = running.child.stdout.take();
        let (sender, answers) = sync_channel(1);
        thread(move || {
            let mut output = output.map(BufReader::new);
            while let Some(output) = &mut output {
                let mut line = Vec::new();
                let read = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
                if !matches!(read, Ok(length) if length > 0)
                    || sender.send(String::from_utf8_lossy(&line).into_owned()).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(Self { running, said, answers })
    }

    fn greet(&mut self, instance: u64, limit: Duration) -> Result<Hello, Failure> {
        let line = self.ask(&json!({ "hello": PROTOCOL, "seed": seed(instance) }), Some(limit))?;
        hello(&line).map_err(|why| Failure::Malformed(format!("said no hello but `{}`: {why}", shown(&line))))
    }

    /// Asks for the value of a point. Where that is no answer, the conversation is over, and dropped with the error.
    pub(crate) fn evaluate(
        mut self,
        point: &Map<String, Value>,
        number: u64,
    ) -> (Result<Evaluation>, Option<Self>) {
        let line = self.ask(&json!({ "point": point, "seed": seed(number) }), None);
        let answer = line.and_then(|line| {
            answer(&line).map_err(|why| Failure::Malformed(format!("answered `{}`: {why}", shown(&line))))
        });
        match answer {
            Ok(answer) => (answer, Some(self)),
            Err(failure) => (Err(self.end(&failure).0), None),
        }
    }

    fn ask(&mut self, request: &Value, limit: Option<Duration>) -> Result<String, Failure> {
        // It would be taken for the answer, and each answer after it for that of another point.
        if let Ok(line) = self.answers.try_recv() {
            let line = shown(&line);
            return Err(Failure::Malformed(format!("said `{line}`, which nobody had asked for")));
        }
        let mut line = request.to_string();
        line.push('\n');
        let written = self.running.child.stdin.as_mut().map(|pipe| pipe.write_all(line.as_bytes()));
        let heard = match (written, limit) {
            (Some(Ok(())), None) => self.answers.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (Some(Ok(())), Some(limit)) => self.answers.recv_timeout(limit),
            // It reads no more. What it said before that, or how it ended, says more than that its pipe is closed.
            _ => self.answers.recv_timeout(LINGER).map_err(|_| RecvTimeoutError::Disconnected),
        };
        heard.map_err(|error| match (error, limit) {
            (RecvTimeoutError::Timeout, Some(limit)) => Failure::Silent(limit),
            _ => Failure::Ended,
        })
    }

    /// Ends the program; answers what went wrong, with its last words.
    fn end(mut self, failure: &Failure) -> NoHello {
        let (what, hint) = match failure {
            Failure::Ended => {
                let status = self.running.finish();
                let by_itself = status.as_ref().is_ok_and(std::process::ExitStatus::success);
                (format!("{} before it answered", ending(status)), by_itself.then_some(NOT_SERVED))
            }
            Failure::Silent(limit) => {
                let _ = self.running.kill();
                let what = format!(
                    "said no hello within {limit:?}; `mode: once` is for programs that know nothing of it"
                );
                (what, None)
            }
            Failure::Malformed(what) => {
                let _ = self.running.kill();
                (what.clone(), Some(PRINTED))
            }
        };
        (Error::new(format!("the program {what}{}", self.said.last_words())), hint)
    }
}

/// Why a conversation is over.
enum Failure {
    Ended,
    Silent(Duration),
    Malformed(String),
}

/// A seed that is a whole number in every language: below 2⁵³.
pub(crate) fn seed(seed: u64) -> u64 {
    seed >> 11
}

/// A line as it stands in a reason.
fn shown(line: &str) -> String {
    const MOST: usize = 200;
    let line = line.trim_end();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn object(line: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("that is not a JSON object".to_owned()),
        Err(error) => Err(format!("that is not JSON ({error})")),
    }
}

fn hello(line: &str) -> Result<Hello, String> {
    let mut hello = Hello::default();
    let object = object(line)?;
    match object.get("hello").map(Value::as_u64) {
        Some(Some(PROTOCOL)) => {}
        Some(_) => return Err(format!("the host speaks version {PROTOCOL} of the protocol")),
        None => return Err(format!("expected {{\"hello\": {PROTOCOL}}}")),
    }
    for (key, value) in object {
        match (key.as_str(), value) {
            // What a later version adds is not for this one.
            (_, Value::Null) => {}
            ("variables", Value::Object(variables)) => hello.variables = Some(variables),
            ("ordered", Value::Array(names)) => {
                let names: Option<_> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
                hello.ordered = names.ok_or("`ordered` is a list of names")?;
            }
            ("sense", value) => {
                hello.sense = Some(match value.as_str() {
                    Some("minimize") => Direction::Minimize,
                    Some("maximize") => Direction::Maximize,
                    _ => return Err("`sense` is `minimize` or `maximize`".to_owned()),
                });
            }
            ("deterministic", Value::Bool(deterministic)) => hello.deterministic = Some(deterministic),
            ("variables", _) => return Err("`variables` is an object of lists".to_owned()),
            ("ordered", _) => return Err("`ordered` is a list of names".to_owned()),
            ("deterministic", _) => return Err("`deterministic` is true or false".to_owned()),
            _ => {}
        }
    }
    Ok(hello)
}

/// The inner error is one that the program tells, and lives on; the outer one is what is no answer.
fn answer(line: &str) -> Result<Result<Evaluation>, String> {
    let object = object(line)?;
    let keys = ["value", "infeasible", "error"];
    let mut given = keys.into_iter().filter_map(|key| Some((key, object.get(key)?)));
    let expected = || "expected one of `value`, `infeasible` and `error`".to_owned();
    let (Some((key, value)), None) = (given.next(), given.next()) else { return Err(expected()) };
    match (key, value) {
        ("value", value) => {
            let value = value.as_f64().ok_or("the value is not a number")?;
            Ok(Ok(value.into()))
        }
        ("infeasible", Value::String(reason)) => Ok(Ok(Evaluation::infeasible(reason))),
        (_, Value::String(reason)) => Ok(Err(Error::new(reason))),
        (key, _) => Err(format!("`{key}` needs a reason in words")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_one_of_three() {
        assert_eq!(answer(r#"{"value": 1.5, "more": 2}"#), Ok(Ok(1.5.into())));
        assert_eq!(answer(r#"{"infeasible": "it burns"}"#), Ok(Ok(Evaluation::infeasible("it burns"))));
        assert_eq!(answer(r#"{"error": "no power"}"#), Ok(Err(Error::new("no power"))));
        for (line, why) in [
            ("1.5", "not a JSON object"),
            ("one", "not JSON"),
            (r#"{"value": NaN}"#, "not JSON"),
            (r#"{"value": 1e999}"#, "not JSON"),
            (r#"{"value": "1"}"#, "not a number"),
            (r#"{"value": null}"#, "not a number"),
            (r#"{"value": 1, "error": "x"}"#, "expected one of"),
            ("{}", "expected one of"),
            (r#"{"infeasible": true}"#, "needs a reason"),
        ] {
            let refused = answer(line).unwrap_err();
            assert!(refused.contains(why), "{line}: {refused}");
        }
    }

    #[test]
    fn a_hello_may_say_much_or_little() {
        assert_eq!(hello(r#"{"hello": 1, "name": "later"}"#), Ok(Hello::default()));
        let all = hello(
            r#"{"hello": 1, "variables": {"a": [1, 2]}, "ordered": ["a"], "sense": "maximize", "deterministic": false}"#,
        );
        let all = all.unwrap();
        assert_eq!(all.variables.unwrap().len(), 1);
        assert_eq!(
            (all.ordered.len(), all.sense, all.deterministic),
            (1, Some(Direction::Maximize), Some(false))
        );
        for (line, why) in [
            ("{}", "expected {\"hello\": 1}"),
            (r#"{"hello": 2}"#, "version 1"),
            (r#"{"hello": 1, "sense": "max"}"#, "`sense`"),
            (r#"{"hello": 1, "variables": []}"#, "`variables`"),
            (r#"{"hello": 1, "ordered": [1]}"#, "`ordered`"),
            (r#"{"hello": 1, "deterministic": 1}"#, "`deterministic`"),
        ] {
            let refused = hello(line).unwrap_err();
            assert!(refused.contains(why), "{line}: {refused}");
        }
    }

    #[test]
    fn a_long_line_is_shown_in_part() {
        assert_eq!(shown("short\n"), "short");
        assert_eq!(shown(&"ä".repeat(300)).chars().count(), 201);
    }
}
