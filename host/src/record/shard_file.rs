//! Which part of its plan a run's folder has, where it has not all of it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::PLAN;
use super::folder::cannot;
use crate::diagnostic::Diagnostic;
use crate::files;
use crate::plan::{Plan, Shard};

const SHARD: &str = "shard.json";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    shard: Shard,
}

/// The part that a run's folder has; `None` where that is the whole plan.
pub fn read_shard(folder: &Path) -> Result<Option<Shard>, Diagnostic> {
    let path = folder.join(SHARD);
    let bytes = match files::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot("read", &path, error)),
    };
    let written: Result<Written, _> = serde_json::from_slice(&bytes);
    written.map(|written| Some(written.shard)).map_err(|error| {
        Diagnostic::new(format!("{} cannot be read", path.display()))
            .because(error)
            .hint("it says which part of the plan this run has, such as {\"shard\":\"3/16\"}; put it back from a copy")
    })
}

/// Records the part that a new run's folder has. It comes before the plan: a folder without one can be resumed by nobody.
pub(super) fn write_shard(folder: &Path, shard: Option<Shard>) -> Result<(), Diagnostic> {
    let Some(shard) = shard else { return Ok(()) };
    let path = folder.join(SHARD);
    let text = serde_json::to_vec(&Written { shard }).expect("a part is plain data");
    files::replace(&path, &text).map_err(|error| cannot("write", &path, error))
}

/// The part that a run goes on with: the one that it was begun with, whatever is asked for now.
pub(super) fn shard_of(folder: &Path, asked: Option<Shard>) -> Result<Option<Shard>, Diagnostic> {
    let recorded = read_shard(folder)?;
    if recorded.is_none() && !folder.join(PLAN).is_file() {
        write_shard(folder, asked)?;
        return Ok(asked);
    }
    match asked {
        Some(asked) if recorded != Some(asked) => {
            let had = recorded.map_or_else(|| "all of its plan".to_owned(), Shard::words);
            let place = folder.display();
            Err(Diagnostic::new(format!("{place} is not {} of its plan", asked.words()))
                .because(format!("it was begun with {had}"))
                .hint(format!(
                    "`host run --resume {place}` goes on with that; another part is a run of its own"
                )))
        }
        _ => Ok(recorded),
    }
}

/// Refuses parts of which some would have no trial.
pub(super) fn check_size(plan: &Plan, shard: Option<Shard>) -> Result<(), Diagnostic> {
    let (Some(shard), trials) = (shard, plan.trials().count()) else { return Ok(()) };
    if shard.of() <= trials {
        return Ok(());
    }
    let there_are =
        if trials == 1 { "there is 1 trial".to_owned() } else { format!("there are {trials} trials") };
    Err(Diagnostic::new(format!("there are more parts than trials in `{}`", plan.name))
        .because(format!("--shard {shard} asks for {} parts, and {there_are}", shard.of()))
        .hint(format!("--shard K/{trials} or less gives each part something to do")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_stays_the_part_that_it_was_begun_with() {
        let folder = tempfile::tempdir().unwrap();
        let part = |text: &str| Some(text.parse::<Shard>().unwrap());
        let of = |asked| shard_of(folder.path(), asked).map_err(|refused| refused.cause.unwrap_or_default());
        // Nothing is recorded yet.
        assert_eq!(of(None), Ok(None));
        assert_eq!(of(part("3/16")), Ok(part("3/16")));
        std::fs::write(folder.path().join(PLAN), "name: x\n").unwrap();
        assert_eq!((of(None), of(part("3/16"))), (Ok(part("3/16")), Ok(part("3/16"))));
        assert_eq!(of(part("4/16")), Err("it was begun with part 3 of 16".to_owned()));
        std::fs::remove_file(folder.path().join(SHARD)).unwrap();
        assert_eq!(of(part("4/16")), Err("it was begun with all of its plan".to_owned()));
        for garbled in ["", "{", "{}", r#"{"shard":"0/3"}"#, r#"{"shard":3}"#] {
            std::fs::write(folder.path().join(SHARD), garbled).unwrap();
            assert!(read_shard(folder.path()).unwrap_err().message.ends_with("cannot be read"), "{garbled}");
        }
    }
}
