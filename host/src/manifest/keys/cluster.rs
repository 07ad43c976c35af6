//! `cluster`: how trials are run by Slurm. Nothing that a trial computes depends on it, so it is in no plan and no hash.
//!
//! The same keys stand at the top of a file of their own, for `--cluster FILE`.

use std::path::Path;
use std::time::Duration;

use plugin_api::Kind;
use serde_json::{Map, Value as Json, json};
use serde_yaml::{Mapping, Value};

use super::evaluation::{SIZES, TIMES, duration, in_units, size};
use super::{Key, KeyPath, Reader, count_schema, described};
use crate::diagnostic::Diagnostic;
use crate::manifest::{Places, Source};

/// What is asked of Slurm for each task, and how trials are put into tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    pub partition: Option<String>,
    pub account: Option<String>,
    pub qos: Option<String>,
    pub constraint: Option<String>,
    /// How long a task may take.
    pub time: Option<Duration>,
    /// Bytes of a task.
    pub memory: Option<u64>,
    /// Of a task.
    pub cpus: Option<usize>,
    /// How many tasks run at a time.
    pub concurrency: Option<usize>,
    /// How many tasks are in the queue at a time, running ones among them.
    pub queue: usize,
    /// How long a trial takes, as far as the user knows.
    pub trial_time: Option<Duration>,
    /// How long a task of several trials should take.
    pub task_time: Duration,
    /// For `module load`.
    pub modules: Vec<String>,
    /// Lines of shell that are run before the trials.
    pub prologue: String,
    /// Further options of `sbatch`: `--gres=gpu:1`.
    pub sbatch: Vec<String>,
    /// A folder of the node for what only helps to go on; `$NAME` in it is a variable of the node.
    pub scratch: Option<String>,
}

const KEYS: &[&str] = &[
    "partition",
    "account",
    "qos",
    "constraint",
    "time",
    "memory",
    "cpus",
    "concurrency",
    "queue",
    "trial-time",
    "task-time",
    "modules",
    "prologue",
    "sbatch",
    "scratch",
];

/// Sites ask for no more tasks in the queue than about this.
const QUEUE: usize = 1000;

/// Sites ask for tasks of five to ten minutes at least.
const TASK_TIME: Duration = Duration::from_secs(600);

/// Options of `sbatch` on which we rely ourselves.
const OURS: &[&str] =
    &["--array", "--job-name", "--parsable", "--test-only", "--wait", "--wrap", "--clusters"];

const A_TIME: &str =
    "must be a time with its unit, such as 30m, 4h or 2d, or as Slurm writes it: 04:00:00, 1-12:00:00";

impl Default for Cluster {
    fn default() -> Self {
        Self {
            partition: None,
            account: None,
            qos: None,
            constraint: None,
            time: None,
            memory: None,
            cpus: None,
            concurrency: None,
            queue: QUEUE,
            trial_time: None,
            task_time: TASK_TIME,
            modules: Vec::new(),
            prologue: String::new(),
            sbatch: Vec::new(),
            scratch: None,
        }
    }
}

impl Cluster {
    /// Reads a file with these keys at its top; all mistakes at once, with their places.
    pub fn open(path: &Path) -> Result<Self, Vec<Diagnostic>> {
        let source = Source::read(path).map_err(|diagnostic| vec![diagnostic])?;
        Self::parse(&source)
    }

    pub fn parse(source: &Source) -> Result<Self, Vec<Diagnostic>> {
        let tree = source.parse().map_err(|diagnostic| vec![diagnostic])?;
        // A file with nothing in it, or with comments alone.
        let tree = if tree.is_null() { Value::Mapping(Mapping::new()) } else { tree };
        let mut mistakes = Vec::new();
        let mut reader = Reader { mistakes: &mut mistakes, top: KEYS };
        let read = match tree.is_mapping() {
            true => read(&tree, &KeyPath::root(), &mut reader),
            false => {
                let what = Diagnostic::new("settings of a cluster are keys with values")
                    .hint("such as `partition: short`; host/CLUSTERS.md has all of them");
                reader.wrong(&KeyPath::root(), what);
                None
            }
        };
        let places = Places { source, origins: &[], axes: &[] };
        match read {
            Some(read) if mistakes.is_empty() => Ok(read),
            _ => Err(mistakes.iter().map(|mistake| places.diagnostic(mistake, None)).collect()),
        }
    }

    /// As a file that [`open`](Self::open) reads; what is not set is left out.
    pub fn write(&self) -> String {
        let mut keys = Map::new();
        let mut set = |key: &str, value: Json| drop(keys.insert(key.to_owned(), value));
        let time = |time: Duration| json!(in_units(time.as_millis(), &TIMES));
        let texts = [
            ("partition", &self.partition),
            ("account", &self.account),
            ("qos", &self.qos),
            ("constraint", &self.constraint),
            ("scratch", &self.scratch),
        ];
        texts
            .iter()
            .filter_map(|(key, text)| Some((key, text.as_ref()?)))
            .for_each(|(key, text)| set(key, json!(text)));
        let counts = [("cpus", self.cpus), ("concurrency", self.concurrency), ("queue", Some(self.queue))];
        counts
            .iter()
            .filter_map(|(key, count)| Some((key, (*count)?)))
            .for_each(|(key, count)| set(key, json!(count)));
        let times =
            [("time", self.time), ("trial-time", self.trial_time), ("task-time", Some(self.task_time))];
        times
            .iter()
            .filter_map(|(key, limit)| Some((key, (*limit)?)))
            .for_each(|(key, limit)| set(key, time(limit)));
        if let Some(bytes) = self.memory {
            set("memory", json!(in_units(bytes.into(), &SIZES)));
        }
        for (key, list) in [("modules", &self.modules), ("sbatch", &self.sbatch)] {
            if !list.is_empty() {
                set(key, json!(list));
            }
        }
        if !self.prologue.is_empty() {
            set("prologue", json!(self.prologue));
        }
        serde_yaml::to_string(&keys).expect("settings are plain data")
    }
}

impl Key for Cluster {
    /// `None` where nothing is said.
    type Value = Option<Self>;
    const NAMES: &'static [&'static str] = &["cluster"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Option<Self>> {
        let Some(value) = keys.get("cluster").filter(|value| !value.is_null()) else { return Some(None) };
        read(value, &KeyPath::root().join("cluster"), reader).map(Some)
    }

    fn stand_in() -> Option<Self> {
        None
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        described(
            json!({ "type": "object", "properties": properties(), "additionalProperties": false }),
            "How trials are run by Slurm, with `--executor slurm`; nothing that they compute depends on it.",
        )
    }
}

fn properties() -> Json {
    let text = || json!({ "type": "string", "minLength": 1 });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let time = || json!({ "type": "string" });
    json!({
        "partition": described(text(), "Where tasks are queued."),
        "account": described(text(), "Who pays."),
        "qos": described(text(), "The quality of service."),
        "constraint": described(text(), "Which nodes will do."),
        "time": described(time(), "How long a task may take: 4h, or 04:00:00."),
        "memory": described(text(), "How much memory a task has: 4GB, or Slurm's 4G."),
        "cpus": described(count_schema(), "How many cores a task has."),
        "concurrency": described(count_schema(), "How many tasks run at a time; no limit of ours by default."),
        "queue": described(count_schema(), "How many tasks are in the queue at a time; 1000 by default."),
        "trial-time": described(time(), "How long a trial takes, until some have finished: 30s."),
        "task-time": described(time(), "How long a task of several short trials should take; 10m by default."),
        "modules": described(texts(), "Modules to load first."),
        "prologue": described(json!({ "type": "string" }), "Lines of shell that are run before the trials."),
        "sbatch": described(texts(), "Further options of sbatch, such as --gres=gpu:1."),
        "scratch": described(text(), "A folder of the node for the saved states of models; $NAME is a variable of the node."),
    })
}

fn read(value: &Value, path: &KeyPath, reader: &mut Reader<'_>) -> Option<Cluster> {
    let keys = reader.mapping(value, path, KEYS)?;
    let mut settings = Cluster::default();
    let before = reader.mistakes.len();
    let get = |key: &str| keys.get(key).filter(|value| !value.is_null());
    for (key, place) in [
        ("partition", &mut settings.partition),
        ("account", &mut settings.account),
        ("qos", &mut settings.qos),
        ("constraint", &mut settings.constraint),
        ("scratch", &mut settings.scratch),
    ] {
        if let Some(value) = get(key) {
            *place = line(value, key, &path.join(key), reader);
        }
    }
    for (key, place) in [("cpus", &mut settings.cpus), ("concurrency", &mut settings.concurrency)] {
        if let Some(value) = get(key) {
            *place = reader.count(value, key, &path.join(key));
        }
    }
    if let Some(value) = get("queue") {
        settings.queue = reader.count(value, "queue", &path.join("queue")).unwrap_or(QUEUE);
    }
    let time = |key: &str, reader: &mut Reader<'_>| {
        let read =
            get(key).map(|value| value.as_str().and_then(|text| duration(text).or_else(|| slurm_time(text))));
        if read == Some(None) {
            reader.wrong_value(key, &path.join(key), A_TIME);
        }
        read.flatten()
    };
    settings.time = time("time", reader);
    settings.trial_time = time("trial-time", reader);
    settings.task_time = time("task-time", reader).unwrap_or(TASK_TIME);
    if let Some(value) = get("memory") {
        settings.memory = value.as_str().and_then(|text| size(text).or_else(|| slurm_size(text)));
        if settings.memory.is_none() {
            let reason = "must be a size with its unit, such as 4GB or 512MiB, or as Slurm writes it: 4G";
            reader.wrong_value("memory", &path.join("memory"), reason);
        }
    }
    if let Some(value) = get("modules") {
        settings.modules = lines(value, "modules", &path.join("modules"), reader);
    }
    if let Some(value) = get("sbatch") {
        settings.sbatch = lines(value, "sbatch", &path.join("sbatch"), reader);
        for (i, option) in settings.sbatch.iter().enumerate() {
            if let Some(reason) = wrong_option(option) {
                reader.wrong_value(option, &path.join("sbatch").join(i), reason);
            }
        }
    }
    match get("prologue") {
        None => {}
        Some(Value::String(text)) if !text.contains('\0') => settings.prologue = text.clone(),
        Some(other) => reader.wrong_type("prologue", &path.join("prologue"), other, "lines of shell"),
    }
    (reader.mistakes.len() == before).then_some(settings)
}

/// A text that stands in one line of a script.
fn line(value: &Value, key: &str, path: &KeyPath, reader: &mut Reader<'_>) -> Option<String> {
    let Some(text) = value.as_str() else {
        reader.wrong_type(key, path, value, "text");
        return None;
    };
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        reader.wrong_value(key, path, "must be one line that is not empty");
        return None;
    }
    Some(text.to_owned())
}

fn lines(value: &Value, key: &str, path: &KeyPath, reader: &mut Reader<'_>) -> Vec<String> {
    let Some(list) = value.as_sequence() else {
        reader.wrong_type(key, path, value, "a list of texts");
        return Vec::new();
    };
    list.iter().enumerate().filter_map(|(i, value)| line(value, key, &path.join(i), reader)).collect()
}

/// Why this is no option of `sbatch` that somebody may add.
fn wrong_option(option: &str) -> Option<String> {
    let name = option.split('=').next().unwrap_or(option);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !name.starts_with("--") || name.len() < 3 || !name.chars().all(plain) {
        return Some("must be one option of sbatch in its long form: `--name` or `--name=value`".to_owned());
    }
    OURS.contains(&name).then(|| "is set by this program itself".to_owned())
}

/// `D-HH[:MM[:SS]]`, `HH:MM:SS` or `MM:SS`. A bare number is refused: minutes to Slurm, seconds to most people.
fn slurm_time(text: &str) -> Option<Duration> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days.parse::<u64>().ok()?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
        (Some(_), &[hours, minutes]) => (hours, minutes, 0),
        (Some(_), &[hours]) => (hours, 0, 0),
        (None, &[minutes, seconds]) => (0, minutes, seconds),
        _ => return None,
    };
    let days = days.unwrap_or(0);
    let sane = days < 100_000 && [hours, minutes, seconds].iter().all(|&part| part < 100_000);
    let total = sane.then(|| days * 86_400 + hours * 3600 + minutes * 60 + seconds)?;
    (total > 0).then(|| Duration::from_secs(total))
}

/// `4G`: Slurm's units are powers of 1024.
fn slurm_size(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok().filter(|&number| number > 0)?;
    let shift = match unit {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift).filter(|&bytes| bytes < 1 << 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Cluster, Vec<String>> {
        let source = Source { label: "slurm.yaml".to_owned(), text: text.to_owned(), base: "/".into() };
        Cluster::parse(&source).map_err(|found| found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        assert_eq!(parse("# nothing\n"), Ok(Cluster::default()));
        let text = "partition: short\naccount: a b\nqos: 'q\"'\nconstraint: gpu&fast\ntime: 1-12:00:00\nmemory: 4G\n\
            cpus: 2\nconcurrency: 50\nqueue: 200\ntrial-time: 30s\ntask-time: 20m\nmodules: [rust/1.89]\n\
            prologue: |\n  ulimit -c 0\n  export A=1\nsbatch: ['--gres=gpu:1', --exclusive]\nscratch: $SLURM_TMPDIR/x\n";
        let cluster = parse(text).unwrap();
        assert_eq!(cluster.time, Some(Duration::from_secs(129_600)));
        assert_eq!(cluster.memory, Some(4 << 30));
        assert_eq!(parse(&cluster.write()), Ok(cluster));
        assert_eq!(parse(&Cluster::default().write()), Ok(Cluster::default()));
    }

    #[test]
    fn every_mistake_is_told_at_once_with_its_place() {
        let text = "partion: short\npartition: \"a\\nb\"\ntime: 90\nmemory: lots\ncpus: 0\nmodules: rust\n\
            sbatch: [gres=gpu, --array=1-5, '--mem 4']\nprologue: 3\nscratch: ''\n";
        let mistakes = parse(text).unwrap_err();
        let places: Vec<&str> = mistakes
            .iter()
            .map(|told| told.lines().find_map(|line| line.trim().strip_prefix("--> ")).unwrap())
            .collect();
        let expected = [
            "slurm.yaml:1:1",
            "slurm.yaml:2:12",
            "slurm.yaml:9:10",
            "slurm.yaml:5:7",
            "slurm.yaml:3:7",
            "slurm.yaml:4:9",
            "slurm.yaml:6:10",
            "slurm.yaml:7:10",
            "slurm.yaml:7:20",
            "slurm.yaml:7:33",
            "slurm.yaml:8:11",
        ];
        assert_eq!(places, expected, "{}", mistakes.join("\n"));
        assert!(mistakes[0].contains("did you mean `partition`?"), "{}", mistakes[0]);
        assert!(parse("- partition").unwrap_err()[0].contains("keys with values"));
    }

    #[test]
    fn times_and_sizes_are_read_as_slurm_writes_them() {
        let seconds = |text| slurm_time(text).map(|time| time.as_secs());
        assert_eq!(seconds("04:00:00"), Some(14_400));
        assert_eq!(
            (seconds("10:30"), seconds("2-0"), seconds("2-01:30")),
            (Some(630), Some(172_800), Some(178_200))
        );
        assert_eq!(
            [
                seconds("90"),
                seconds(""),
                seconds("a:b"),
                seconds("1-"),
                seconds("0:0"),
                seconds("99999999999999:1")
            ],
            [None; 6]
        );
        assert_eq!(
            (slurm_size("4000M"), slurm_size("4G"), slurm_size("0G")),
            (Some(4000 << 20), Some(4 << 30), None)
        );
        assert_eq!(
            [slurm_size(""), slurm_size("4"), slurm_size("4é"), slurm_size("99999999999T")],
            [None; 4]
        );
    }
}
