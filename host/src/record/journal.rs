//! The journal of a trial: written line by line, and remembered when a trial goes on.
//!
//! A journal is a function of plan and seed. A resumed trial goes through its loop again from the start, or from
//! where the state of its surrogates and solvers was saved: what it would write has to be what stands there already, evaluations are
//! taken from the journal instead of being made again, and where the journal ends the trial goes on.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::event::{Event, Finished};
use super::{Chain, RecordError, chain};
use crate::files;

pub(super) const JOURNAL: &str = "journal.jsonl";

/// A process that was killed may take a moment to let go of its journal.
const PATIENCE: Duration = Duration::from_secs(10);

/// Writes a trial's events, and remembers those of an earlier run.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Events of an earlier run that the loop has not come to yet, each with the hash after it.
    recorded: VecDeque<(Event, Chain)>,
    /// Of every line so far, replayed or written.
    chain: Chain,
    line: usize,
    /// The length of the file's whole lines.
    length: u64,
    /// Whether what stands there counts although the plugins have changed since.
    trust: bool,
}

impl Journal {
    /// Opens the journal in a trial's folder, or begins one. A torn last line is cut off.
    ///
    /// Where `trust`, what was recorded by other versions of the plugins counts as it stands.
    pub fn open(folder: &Path, trust: bool) -> Result<Self, RecordError> {
        files::Folder::make(folder).map_err(RecordError::cannot("make", folder))?.clear();
        let path = folder.join(JOURNAL);
        let cannot = |what| RecordError::cannot(what, &path);
        let mut file = files::open(&path, files::Access::ReadAndWrite).map_err(cannot("open"))?;
        lock(&file, &path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(cannot("read"))?;
        let mut recorded = chain::read(&path, &bytes).map_err(|broken| RecordError(broken.to_string()))?;
        let asked = matches!(recorded.first(), Some((Event::Started(started), _)) if started.asked);
        // Where somebody else evaluates, what was asked for stays asked for.
        if trust && !asked {
            // What was proposed and not evaluated yet, other plugins may propose otherwise.
            let settled = |(event, _): &(Event, Chain)| {
                matches!(event, Event::Evaluated(_) | Event::Recommended(_) | Event::Finished(_))
            };
            recorded.truncate(recorded.iter().rposition(settled).map_or(0, |last| last + 1));
        }
        let length: usize =
            bytes.split_inclusive(|&byte| byte == b'\n').take(recorded.len()).map(<[u8]>::len).sum();
        if length < bytes.len() {
            file.set_len(length as u64).map_err(cannot("mend"))?;
        }
        file.seek(SeekFrom::Start(length as u64)).map_err(cannot("read"))?;
        // The file's name has to last as long as what is written to it.
        files::sync_folder(folder).map_err(RecordError::cannot("write", folder))?;
        if let Some(parent) = folder.parent() {
            files::sync_folder(parent).map_err(RecordError::cannot("write", parent))?;
        }
        Ok(Self {
            path,
            file,
            recorded: recorded.into(),
            chain: Chain::default(),
            line: 0,
            length: length as u64,
            trust,
        })
    }

    /// What an earlier run recorded next; `None` where the journal ends.
    pub fn next(&self) -> Option<&Event> {
        self.recorded.front().map(|(event, _)| event)
    }

    /// How many evaluations stand there that the loop has not come to yet.
    pub fn recorded_evaluations(&self) -> usize {
        self.recorded.iter().filter(|(event, _)| matches!(event, Event::Evaluated(_))).count()
    }

    /// The hash after the evaluation with this number, where it is among what the loop has not come to yet.
    pub fn hash_after(&self, evaluation: usize) -> Option<&str> {
        let found = self.recorded.iter().find(|(event, _)| match event {
            Event::Evaluated(evaluated) => evaluated.evaluation == evaluation,
            _ => false,
        });
        found.map(|(_, chain)| chain.hash())
    }

    /// How many events stand until the one with this hash, among what the loop has not come to yet.
    pub fn events_until(&self, hash: &str) -> Option<usize> {
        self.recorded.iter().position(|(_, chain)| chain.hash() == hash).map(|at| at + 1)
    }

    /// The hash of all lines so far.
    pub fn hash(&self) -> &str {
        self.chain.hash()
    }

    /// Takes an event: it has to be what an earlier run recorded next, or it is written, and on disk when this returns.
    pub fn record(&mut self, event: &Event) -> Result<(), RecordError> {
        self.line += 1;
        let mut chain = self.chain;
        let line = chain.append(event);
        match self.recorded.pop_front() {
            // The same hash is the same line, and the same lines before it.
            Some((_, recorded)) if recorded == chain => {}
            // The first line has the versions of the plugins, and with it all hashes are others.
            Some((recorded, hash)) if self.trust && (self.line == 1 || recorded == *event) => chain = hash,
            Some(_) => {
                return Err(self.mismatch(
                    "the journal was written by another plan, plugin or program version; \
                     `host run` with another --run-id begins a new run beside it",
                ));
            }
            None => self.write(&line)?,
        }
        self.chain = chain;
        Ok(())
    }

    fn mismatch(&self, what: &str) -> RecordError {
        RecordError(format!("{}:{}: {what}", self.path.display(), self.line))
    }

    /// Writes a line whole or not at all; it is on disk before this returns.
    fn write(&mut self, line: &str) -> Result<(), RecordError> {
        self.check_presence()?;
        // One write for the whole line: a kill leaves all of it or a torn last line.
        let written =
            self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // On a full disk, half a line may stand there.
            let _ = self.file.set_len(self.length);
            return Err(RecordError::cannot("write", &self.path)(error));
        }
        self.length += line.len() as u64 + 1;
        Ok(())
    }

    /// A file that was deleted or moved away can still be written to, and nobody would ever read it.
    fn check_presence(&self) -> Result<(), RecordError> {
        let there = self.path.metadata().map_err(RecordError::cannot("find", &self.path))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let ours = self.file.metadata().map_err(RecordError::cannot("read", &self.path))?;
            if (there.dev(), there.ino()) != (ours.dev(), ours.ino()) {
                let path = self.path.display();
                return Err(RecordError(format!("{path} was replaced while the trial was running")));
            }
        }
        #[cfg(not(unix))]
        let _ = there;
        Ok(())
    }
}

/// Whether the trial in this folder has finished. What stands before the last line is checked by who reads it.
pub fn is_finished(folder: &Path) -> bool {
    finished(folder).is_some()
}

/// How the trial in this folder ended; `None` where it has not.
pub fn finished(folder: &Path) -> Option<Finished> {
    let last = files::last_line(&folder.join(JOURNAL)).ok().flatten()?;
    match Event::parse(&String::from_utf8(last).ok()?) {
        Ok(Event::Finished(finished)) => Some(finished),
        _ => None,
    }
}

/// How many evaluations the trial in this folder has made, and the best total of them; `None` before the first. Only the
/// end of the journal is read, which may be on a slow disk and looked at often.
pub fn reached(folder: &Path) -> Option<(usize, Option<f64>)> {
    let end = files::end(&folder.join(JOURNAL), 1 << 15).ok()?;
    let lines = end.split_inclusive(|&byte| byte == b'\n').rev();
    lines.filter(|line| line.ends_with(b"\n")).find_map(|line| {
        match Event::parse(std::str::from_utf8(line).ok()?.trim_end()) {
            Ok(Event::Evaluated(evaluated)) => Some((evaluated.evaluation, evaluated.best)),
            _ => None,
        }
    })
}

/// The point whose evaluation the journal in this folder ends with, under way.
pub fn under_way(folder: &Path) -> Option<plugin_api::Point> {
    let last = files::last_line(&folder.join(JOURNAL)).ok().flatten()?;
    match Event::parse(&String::from_utf8(last).ok()?) {
        Ok(Event::Evaluating(evaluating)) => Some(evaluating.point),
        _ => None,
    }
}

/// Takes a journal that is there for this process alone, as long as the answer is kept.
pub(super) fn hold(path: &Path) -> Result<File, RecordError> {
    let file = files::open(path, files::Access::ReadAndWrite).map_err(RecordError::cannot("open", path))?;
    lock(&file, path)?;
    Ok(file)
}

/// Takes the journal for this process alone.
fn lock(file: &File, path: &Path) -> Result<(), RecordError> {
    let begun = Instant::now();
    loop {
        match try_lock(file) {
            Ok(true) => return Ok(()),
            Ok(false) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            Ok(false) => {
                let path = path.display();
                return Err(RecordError(format!("another process is writing to {path}")));
            }
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                tracing::warn!("this file system has no locks: nothing else may run {}", path.display());
                return Ok(());
            }
            Err(error) => return Err(RecordError::cannot("lock", path)(error)),
        }
    }
}

/// Whether this process has the file now. The lock is the process's and not the file's: what a plugin forks does not keep
/// it.
#[cfg(unix)]
fn try_lock(file: &File) -> std::io::Result<bool> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(Errno::NOLCK | Errno::NOSYS | Errno::INVAL) => Err(std::io::ErrorKind::Unsupported.into()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn try_lock(file: &File) -> std::io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::examples;
    use super::*;

    fn written(folder: &Path) -> String {
        let mut journal = Journal::open(folder, false).unwrap();
        examples().iter().for_each(|event| journal.record(event).unwrap());
        std::fs::read_to_string(folder.join(JOURNAL)).unwrap()
    }

    #[test]
    fn a_journal_that_was_cut_anywhere_goes_on_to_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let whole = written(folder.path());
        assert!(is_finished(folder.path()));
        for cut in (0..whole.len()).step_by(7) {
            std::fs::write(folder.path().join(JOURNAL), &whole[..cut]).unwrap();
            assert!(!is_finished(folder.path()));
            assert_eq!(written(folder.path()), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_trial_has_finished_however_long_its_last_line_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path(), false).unwrap();
        for event in examples() {
            let event = match event {
                Event::Finished(finished) => {
                    let description = Some("λ=1 ".repeat(1 << 20));
                    Event::Finished(super::super::event::Finished { description, ..finished })
                }
                event => event,
            };
            journal.record(&event).unwrap();
        }
        assert!(is_finished(folder.path()));
    }

    #[test]
    fn what_does_not_happen_again_is_refused_and_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let whole = written(folder.path());
        let mut journal = Journal::open(folder.path(), false).unwrap();
        journal.record(&examples()[0]).unwrap();
        let error = journal.record(&examples()[2]).unwrap_err().to_string();
        assert!(error.contains("journal.jsonl:2: the journal was written by another plan"), "{error}");
        assert_eq!(std::fs::read_to_string(folder.path().join(JOURNAL)).unwrap(), whole);
    }

    #[test]
    fn a_changed_line_is_named_when_the_journal_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let whole = written(folder.path());
        std::fs::write(folder.path().join(JOURNAL), whole.replacen("too hot", "too cold", 1)).unwrap();
        let error = Journal::open(folder.path(), false).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("journal.jsonl:4: this line, or one before it, was changed"), "{error}");
    }

    #[test]
    fn with_changed_plugins_what_is_evaluated_counts_and_the_rest_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let whole = written(folder.path());
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        std::fs::write(folder.path().join(JOURNAL), lines[..7].concat()).unwrap();
        let mut journal = Journal::open(folder.path(), true).unwrap();
        assert_eq!(journal.recorded_evaluations(), 4);
        let Event::Started(started) = &examples()[0] else { panic!("a journal begins with its trial") };
        let other = super::super::event::Started { plan: "another".to_owned(), ..started.clone() };
        journal.record(&Event::Started(other)).unwrap();
        examples()[1..6].iter().for_each(|event| journal.record(event).unwrap());
        assert!(journal.next().is_none());
        assert_eq!(std::fs::read_to_string(folder.path().join(JOURNAL)).unwrap(), lines[..6].concat());
        // The chain goes on from what stands there.
        journal.record(&examples()[6]).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join(JOURNAL)).unwrap(), lines[..7].concat());
    }

    #[test]
    fn a_file_that_was_moved_away_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path(), false).unwrap();
        journal.record(&examples()[0]).unwrap();
        std::fs::rename(folder.path().join(JOURNAL), folder.path().join("moved")).unwrap();
        assert!(journal.record(&examples()[1]).unwrap_err().to_string().contains("cannot find"));
        std::fs::write(folder.path().join(JOURNAL), "").unwrap();
        assert!(journal.record(&examples()[1]).unwrap_err().to_string().contains("was replaced"));
    }
}
