//! What a process prints, line by line.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use super::death::OUT_OF_MEMORY;
use super::supervise::{LINGER, Report, Told};
use super::thread;
use crate::plan::TrialId;

/// No line of a plugin's is longer than this; the rest of it is lost.
const LONGEST_LINE: usize = 8192;

/// The last lines of the error output that are kept for a reason.
const LAST_WORDS: usize = 20;

/// Passes on a process's error output, and keeps the last of it.
pub(super) struct LastWords {
    lines: Arc<Mutex<VecDeque<String>>>,
    ended: mpsc::Receiver<()>,
}

impl LastWords {
    pub(super) fn listen(
        stderr: Option<ChildStderr>,
        id: &TrialId,
        reports: mpsc::SyncSender<Told>,
    ) -> io::Result<Self> {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, ended) = mpsc::channel();
        let (kept, id) = (lines.clone(), id.clone());
        thread(move || {
            each_line(stderr, |line| {
                let _ = reports.send(Told::Trial(id.clone(), Report::Said(line.clone())));
                keep_last(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), line);
            });
            drop(sender);
        })?;
        Ok(Self { lines, ended })
    }

    /// The last lines, when the process has ended.
    pub(super) fn take(self) -> Vec<String> {
        let _ = self.ended.recv_timeout(LINGER);
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

/// One more of the last lines.
pub(super) fn keep_last(kept: &mut VecDeque<String>, line: String) {
    // A backtrace may come after it.
    let first_is_the_reason = kept.front().is_some_and(|line| line.starts_with(OUT_OF_MEMORY));
    if kept.len() == LAST_WORDS {
        kept.remove(usize::from(first_is_the_reason));
    }
    kept.push_back(line);
}

/// Calls back with each line, cut where it is too long, until the input ends.
pub(super) fn each_line(input: Option<impl Read>, mut line: impl FnMut(String)) {
    let Some(input) = input else { return };
    let mut input = BufReader::new(input);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        // Not all at once: a plugin may write for ever without ending a line.
        match input.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = bytes.ends_with(b"\n");
        line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned());
        if !whole && bytes.len() == LONGEST_LINE && skip_line(&mut input).is_err() {
            return;
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (skipped, done) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(skipped);
        if done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_passed_on_and_long_ones_cut() {
        let text = format!("one\ntwo\r\n{}\nthree", "x".repeat(3 * LONGEST_LINE));
        let mut lines = Vec::new();
        each_line(Some(text.as_bytes()), |line| lines.push(line));
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [3, 3, LONGEST_LINE, 5]);
        assert_eq!((&*lines[1], &*lines[3]), ("two", "three"));
    }
}
