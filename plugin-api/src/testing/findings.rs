//! What was found about a plugin: for each promise of its kind, whether it is kept, and if not, why.

use std::collections::BTreeMap;

use crate::Result;

/// What became of one promise of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The promise in a word.
    pub promise: &'static str,
    /// The promise in a sentence.
    pub words: &'static str,
    /// How it was broken; `None` where it was kept, as far as was tried.
    pub broken: Option<String>,
}

/// Who is told of each call before it is made: the last one told of is the one that a crash happened in.
pub type Watcher<'a> = &'a dyn Fn(&str);

/// A promise in a word and in a sentence.
pub(super) type Promise = (&'static str, &'static str);

/// Every call is answered; all kinds promise that.
pub(super) const ANSWERS: Promise = ("answers", "every call is answered, without an error or a panic");

/// Collects the first way in which each promise was broken.
pub(super) struct Findings<'a> {
    promises: &'static [Promise],
    broken: BTreeMap<&'static str, String>,
    watch: Watcher<'a>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(promises: &'static [Promise], watch: Watcher<'a>) -> Self {
        Self { promises, broken: BTreeMap::new(), watch }
    }

    /// Makes a call; an error breaks the promise that every call is answered.
    pub(super) fn call<T>(&mut self, what: &str, call: impl FnOnce() -> Result<T>) -> Option<T> {
        (self.watch)(what);
        match call() {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.note(ANSWERS.0, || format!("{what}: {error}"));
                None
            }
        }
    }

    /// Notes where a promise does not hold; answers whether it does.
    pub(super) fn ensure(
        &mut self,
        promise: &'static str,
        holds: bool,
        why: impl FnOnce() -> String,
    ) -> bool {
        if !holds {
            self.note(promise, why);
        }
        holds
    }

    pub(super) fn note(&mut self, promise: &'static str, why: impl FnOnce() -> String) {
        debug_assert!(self.promises.iter().any(|(name, _)| *name == promise), "`{promise}` is no promise");
        self.broken.entry(promise).or_insert_with(why);
    }

    pub(super) fn verdicts(mut self) -> Vec<Verdict> {
        let verdict = |&(promise, words)| Verdict { promise, words, broken: self.broken.remove(promise) };
        self.promises.iter().map(verdict).collect()
    }
}

/// Panics with the first promise that is not kept.
pub(super) fn insist(verdicts: Vec<Verdict>) {
    if let Some(Verdict { promise, broken: Some(why), .. }) =
        verdicts.into_iter().find(|verdict| verdict.broken.is_some())
    {
        panic!("{why} (the promise `{promise}`)");
    }
}
