//! Each line of a journal carries a hash of itself and of all lines before it, so that a line that was changed, lost or
//! put in later is noticed, and named. The last line of a finished journal seals all of it.
//!
//! It is there against accidents and careless hands; who wants to forge a journal can compute it too.

use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::FORMAT;
use super::event::Event;

/// What stands between a line's own words and its hash.
const MARK: &str = ",\"chain\":\"";

/// The hash of the lines so far, in hexadecimal digits: 64 bits are enough against accidents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain([u8; 16]);

impl Chain {
    /// One event more: the line for it, without its end.
    pub fn append(&mut self, event: &Event) -> String {
        let body = event.json();
        self.append_words(body.strip_suffix('}').expect("an event is a JSON object"))
    }

    /// The same for a line's own words.
    pub(super) fn append_words(&mut self, words: &str) -> String {
        self.add(words);
        format!("{words}{MARK}{}\"}}", self.hash())
    }

    /// Follows the chain over a line; what does not fit it is told in words.
    pub fn follow(&mut self, line: &str) -> Result<(), &'static str> {
        let (words, hash) = parts(line)
            .ok_or("no hash ends this line: it was not written by this program, or changed since")?;
        self.add(words);
        if self.0 == hash.as_bytes() {
            Ok(())
        } else {
            Err("this line, or one before it, was changed after it was written")
        }
    }

    /// The hash, as a line carries it.
    pub fn hash(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits are text")
    }

    fn add(&mut self, words: &str) {
        let mut hash = Sha256::new();
        // The first line has nothing before it.
        if *self != Self::default() {
            hash.update(self.0);
        }
        hash.update(words);
        let hash = hash.finalize();
        for (digits, byte) in self.0.as_chunks_mut::<2>().0.iter_mut().zip(hash) {
            *digits = [byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
        }
    }
}

/// A line's own words, and its hash.
fn parts(line: &str) -> Option<(&str, &str)> {
    line.strip_suffix("\"}").and_then(|line| line.rsplit_once(MARK))
}

/// A line's own words, without what chains it to others.
pub(super) fn words(line: &str) -> Option<&str> {
    parts(line).map(|(words, _)| words)
}

/// A journal that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub path: PathBuf,
    /// Counted from 1.
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.what)
    }
}

/// The events of a journal, each with the hash after it. What follows the last end of a line is torn, and passed over.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Vec<(Event, Chain)>, Broken> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut chain = Chain::default();
    let mut events: Vec<(Event, Chain)> = Vec::new();
    for (i, line) in bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let broken = |what: String| Broken { path: path.to_owned(), line: i + 1, what };
        let line = std::str::from_utf8(&line[..line.len() - 1])
            .map_err(|_| broken("this is not text".to_owned()))?;
        if i == 0
            && let Some(format) = other_format(line)
        {
            return Err(broken(format!(
                "the journal is of format {format}, and this host reads format {FORMAT}"
            )));
        }
        if matches!(events.last(), Some((Event::Finished(_), _))) {
            return Err(broken("the journal goes on after its end".to_owned()));
        }
        chain.follow(line).map_err(|what| broken(what.to_owned()))?;
        let event = Event::parse(line).map_err(|error| broken(format!("this is no event: {error}")))?;
        if matches!(event, Event::Started(_)) != (i == 0) {
            return Err(broken("a journal has one beginning, in its first line".to_owned()));
        }
        events.push((event, chain));
    }
    Ok(events)
}

/// The format of a journal's first line, where it is not ours. The first had no number.
fn other_format(line: &str) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        event: &'a str,
        format: Option<u64>,
    }
    let line: Line<'_> = serde_json::from_str(line).ok()?;
    let format = line.format.unwrap_or(1);
    (line.event == "started" && format != u64::from(FORMAT)).then_some(format)
}

#[cfg(test)]
mod tests {
    use super::super::event::examples;
    use super::*;

    fn journal() -> String {
        let mut chain = Chain::default();
        examples().iter().map(|event| chain.append(event) + "\n").collect()
    }

    fn broken(text: &str) -> (usize, String) {
        let broken = read(Path::new("j"), text.as_bytes()).unwrap_err();
        (broken.line, broken.what)
    }

    #[test]
    fn what_was_written_is_read() {
        let events: Vec<Event> =
            read(Path::new("j"), journal().as_bytes()).unwrap().into_iter().map(|(event, _)| event).collect();
        assert_eq!(events, examples());
    }

    #[test]
    fn every_changed_byte_is_noticed_at_its_line_or_after_it() {
        let text = journal();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let line = 1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count();
            // Without its end, the last line is torn; and it is missing from what is read.
            match read(Path::new("j"), &bytes) {
                Err(broken) => assert!(broken.line == line || broken.line == line + 1, "byte {at}: {broken}"),
                Ok(events) => {
                    assert!(at + 1 == text.len() && events.len() + 1 == examples().len(), "byte {at}")
                }
            }
        }
    }

    #[test]
    fn lines_that_are_missing_or_in_another_order_are_noticed() {
        let text = journal();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let changed = "this line, or one before it, was changed after it was written";
        let missing = [&lines[..2], &lines[3..]].concat().concat();
        assert_eq!(broken(&missing), (3, changed.to_owned()));
        let swapped = [lines[0], lines[2], lines[1]].concat();
        assert_eq!(broken(&swapped), (2, changed.to_owned()));
        assert_eq!(
            broken(&(text.clone() + lines[1])),
            (lines.len() + 1, "the journal goes on after its end".to_owned())
        );
    }

    #[test]
    fn a_torn_end_is_passed_over() {
        let text = journal();
        for cut in 0..text.len() {
            let events = read(Path::new("j"), &text.as_bytes()[..cut]).unwrap();
            assert_eq!(events.len(), text.bytes().take(cut).filter(|&byte| byte == b'\n').count());
        }
    }

    #[test]
    fn another_format_is_named() {
        let old = "{\"event\":\"started\",\"experiment\":\"x\"}\n";
        assert_eq!(broken(old).1, "the journal is of format 1, and this host reads format 2");
    }
}
