//! `evaluation`: how long one may take, how often it is tried again, and what a failure means.

use std::time::Duration;

use plugin_api::Kind;
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, count_schema, described};
use crate::manifest::reader::MOST;

/// What happens around an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// How long one may take.
    pub timeout: Option<Duration>,
    /// How often a failed one is tried again.
    pub retries: usize,
    /// What becomes of the trial when none of the tries gave a value.
    pub on_failure: OnFailure,
    /// A trial ends after this many failed evaluations in a row.
    pub give_up_after: usize,
    /// How many bytes a trial's process may hold.
    pub memory: Option<u64>,
    /// Whether a point of a noisy objective may be evaluated again. One whose values are always the same never is.
    pub again: bool,
    /// How many values a point's value is the mean of.
    pub repeat: usize,
}

impl Evaluation {
    /// How long the evaluation of a point may take with all its repetitions.
    pub fn limit(&self) -> Option<Duration> {
        let repeat = u32::try_from(self.repeat).unwrap_or(u32::MAX);
        self.timeout.map(|limit| limit.saturating_mul(repeat))
    }
}

/// What becomes of a trial after a failed evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The point is kept from the model and never proposed again; the trial goes on.
    Skip,
    /// The trial ends.
    Stop,
}

/// The keys of `evaluation`.
const KEYS: &[&str] = &["timeout", "retries", "on-failure", "give-up-after", "memory", "again", "repeat"];

/// No evaluation is tried more often than this.
const MOST_RETRIES: u64 = 1000;

/// After how many failures in a row a trial ends, unless the manifest says otherwise.
const GIVE_UP_AFTER: usize = 10;

impl Default for Evaluation {
    fn default() -> Self {
        let (on_failure, give_up_after) = (OnFailure::Skip, GIVE_UP_AFTER);
        Self { timeout: None, retries: 1, on_failure, give_up_after, memory: None, again: true, repeat: 1 }
    }
}

/// As a manifest has it.
impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let on_failure = match self.on_failure {
            OnFailure::Skip => "skip",
            OnFailure::Stop => "stop",
        };
        let timeout = self.timeout.map(|limit| in_units(limit.as_millis(), &TIMES));
        let memory = self.memory.map(|bytes| in_units(bytes.into(), &SIZES));
        let mut keys = json!({ "timeout": timeout, "retries": self.retries, "on-failure": on_failure, "memory": memory });
        // Left out where they are the default, so that plans from before there were these keys keep their hash.
        if self.give_up_after != GIVE_UP_AFTER {
            keys["give-up-after"] = self.give_up_after.into();
        }
        if !self.again {
            keys["again"] = false.into();
        }
        if self.repeat != 1 {
            keys["repeat"] = self.repeat.into();
        }
        keys.serialize(serializer)
    }
}

impl Key for Evaluation {
    type Value = Self;
    const NAMES: &'static [&'static str] = &["evaluation"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self> {
        let default = Self::default();
        let Some(value) = keys.get("evaluation") else { return Some(default) };
        let path = KeyPath::root().join("evaluation");
        let keys = reader.mapping(value, &path, KEYS)?;
        let get = |key: &str| keys.get(key).filter(|value| !value.is_null());
        let timeout = get("timeout").map(|value| {
            let read = value.as_str().and_then(duration);
            if read.is_none() {
                let reason = "must be a time above 0 with its unit, such as 500ms, 30s, 10m, 2h or 1d";
                reader.wrong_value("timeout", &path.join("timeout"), reason);
            }
            read
        });
        let retries = get("retries").map_or(Some(default.retries), |value| {
            let read = value.as_u64().filter(|&count| count <= MOST_RETRIES);
            if read.is_none() {
                let reason = format!("must be a whole number from 0 to {MOST_RETRIES}");
                reader.wrong_value("retries", &path.join("retries"), reason);
            }
            read.and_then(|count| usize::try_from(count).ok())
        });
        let on_failure = get("on-failure").map_or(Some(default.on_failure), |value| match value.as_str() {
            Some("skip") => Some(OnFailure::Skip),
            Some("stop") => Some(OnFailure::Stop),
            _ => {
                reader.wrong_value("on-failure", &path.join("on-failure"), "must be `skip` or `stop`");
                None
            }
        });
        let repeat = get("repeat")
            .map_or(Some(default.repeat), |value| reader.count(value, "repeat", &path.join("repeat")));
        let give_up_after = get("give-up-after").map_or(Some(default.give_up_after), |value| {
            let read = value.as_u64().and_then(|count| usize::try_from(count).ok());
            let read = read.filter(|count| (1..=MOST).contains(count));
            if read.is_none() {
                let reason = format!("must be a whole number from 1 to {MOST}");
                reader.wrong_value("give-up-after", &path.join("give-up-after"), reason);
            }
            read
        });
        let memory = get("memory").map(|value| {
            let read = value.as_str().and_then(size);
            if read.is_none() {
                let reason = "must be a size above 0 with its unit, such as 500MB, 2GB or 512MiB";
                reader.wrong_value("memory", &path.join("memory"), reason);
            }
            read
        });
        let again = get("again").map_or(Some(default.again), |value| {
            let again = value.as_bool();
            if again.is_none() {
                reader.wrong_value("again", &path.join("again"), "must be true or false");
            }
            again
        });
        // An absent limit is none; one that cannot be read is a mistake.
        if timeout == Some(None) || memory == Some(None) {
            return None;
        }
        Some(Self {
            timeout: timeout.flatten(),
            retries: retries?,
            on_failure: on_failure?,
            give_up_after: give_up_after?,
            memory: memory.flatten(),
            again: again?,
            repeat: repeat?,
        })
    }

    fn stand_in() -> Self {
        Self::default()
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        let time = json!({ "type": ["string", "null"], "pattern": "^[0-9.]+ ?(ms|s|m|h|d)$" });
        let size = json!({ "type": ["string", "null"], "pattern": "^[0-9.]+ ?([KMGT]i?)?B$" });
        let retries = json!({ "type": "integer", "minimum": 0, "maximum": MOST_RETRIES });
        let on_failure = json!({ "enum": ["skip", "stop"] });
        let properties = json!({
            "timeout": described(time, "How long one may take, such as 30s; none by default."),
            "retries": described(retries, "How often a failed one is tried again; 1 by default."),
            "on-failure": described(on_failure, "Go on without the value (skip, the default), or end the trial."),
            "give-up-after": described(count_schema(), "A trial ends after this many failures in a row; 10 by default."),
            "repeat": described(count_schema(), "How often each point is evaluated, each time with noise of its own: its value is the mean; 1 by default."),
            "memory": described(size, "How much memory a trial's process may hold, such as 2GB; no limit by default."),
            "again": described(
                json!({ "type": "boolean", "default": true }),
                "Whether a point of a noisy objective may be proposed again; one that is not noisy never proposes a point twice."
            ),
        });
        described(
            json!({ "type": "object", "properties": properties, "additionalProperties": false }),
            "What happens around an evaluation.",
        )
    }
}

/// Milliseconds in each unit of time, the largest first.
pub(super) const TIMES: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Bytes in each unit of size, the largest first.
pub(super) const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1000),
    ("B", 1),
];

/// `30s` as a time; `None` for what is none, or none above 0 and below a thousand years.
pub(super) fn duration(text: &str) -> Option<Duration> {
    // Whole milliseconds: what a plan writes is what it reads.
    let millis = with_unit(text, &TIMES).filter(|millis| (1.0..3.2e13).contains(millis))?;
    Some(Duration::from_millis(millis.round() as u64))
}

/// `512MB` as bytes.
pub(super) fn size(text: &str) -> Option<u64> {
    let bytes = with_unit(text, &SIZES).filter(|bytes| (1.0..1e18).contains(bytes))?;
    Some(bytes.round() as u64)
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<f64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.trim().parse().ok()?;
    Some(number * *factor as f64)
}

/// In the largest unit that leaves a whole number.
pub(super) fn in_units(amount: u128, units: &[(&str, u64)]) -> String {
    let (name, size) =
        units.iter().find(|(_, size)| amount.is_multiple_of((*size).into())).expect("1 divides all");
    format!("{}{name}", amount / u128::from(*size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Evaluation, Vec<String>> {
        let mut mistakes = Vec::new();
        let keys: Mapping = serde_yaml::from_str(&format!("evaluation: {text}")).unwrap();
        let read = Evaluation::read(&keys, &mut Reader { mistakes: &mut mistakes, top: &[] });
        let words: Vec<String> = mistakes.iter().map(|mistake| mistake.what.message.clone()).collect();
        if words.is_empty() { Ok(read.unwrap()) } else { Err(words) }
    }

    #[test]
    fn times_and_sizes_have_units() {
        let times =
            [("500ms", 500), ("30s", 30_000), ("1.5 m", 90_000), ("2h", 7_200_000), ("1d", 86_400_000)];
        for (text, millis) in times {
            assert_eq!(duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "30", "s", "-1s", "0s", "NaNs", "infs", "1e300d", "30 seconds", "30S"] {
            assert_eq!(duration(text), None, "{text}");
        }
        assert_eq!([size("1KB"), size("2GiB"), size("7B")], [Some(1000), Some(2_147_483_648), Some(7)]);
        assert_eq!([size("12"), size("0MB"), size("1e40TB"), size("x")], [None; 4]);
    }

    #[test]
    fn what_a_plan_writes_is_what_it_reads() {
        assert_eq!(read("{}"), Ok(Evaluation::default()));
        let text = "{ timeout: 1.5h, retries: 0, on-failure: stop, give-up-after: 3, memory: 100MiB, again: false, repeat: 4 }";
        let evaluation = read(text).unwrap();
        assert_eq!((evaluation.retries, evaluation.give_up_after, evaluation.repeat), (0, 3, 4));
        assert_eq!(evaluation.on_failure, OnFailure::Stop);
        let plain = serde_json::to_value(Evaluation::default()).unwrap();
        assert_eq!(plain.get("give-up-after").or(plain.get("repeat")), None, "older plans keep their hash");
        for evaluation in [evaluation, Evaluation::default()] {
            assert_eq!(read(&serde_json::to_string(&evaluation).unwrap()), Ok(evaluation));
        }
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let text = "{ timeout: soon, retries: -1, on-failure: cry, give-up-after: 0, memory: 12, colour: red, again: 2, repeat: 0 }";
        let mistakes = read(text).unwrap_err();
        assert_eq!(mistakes.len(), 8, "{mistakes:?}");
    }
}
