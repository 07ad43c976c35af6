//! The script that is submitted. Every value in it is quoted, for the shell or for `sbatch`, which read them differently.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::diagnostic::Diagnostic;
use crate::manifest::keys::cluster::Cluster;
use crate::plugins::PluginArguments;
use crate::record::cluster::{Array, ClusterFolder};
use crate::text::shell_word;

/// How long before its end a task is told to stop in good order.
const NOTICE: Duration = Duration::from_secs(90);

/// What `host trial` is told in a task.
#[derive(Clone, Debug)]
pub struct TaskArguments {
    pub plugins: PluginArguments,
    pub allow_changed_plugins: bool,
    /// In seconds.
    pub patience: f64,
    pub step_timeout: Option<f64>,
    pub verbose: u8,
    /// Variables that come along also where the rest of the environment does not.
    pub environment: Vec<(&'static str, String)>,
}

/// The script of an array. `program` is this program, by a path that means the same on every node.
pub(super) fn script(
    run: &Path,
    array: &Array,
    settings: &Cluster,
    program: &Path,
    arguments: &TaskArguments,
) -> Result<String, Diagnostic> {
    let cluster = ClusterFolder::of(run);
    let (number, version) = (array.number, env!("CARGO_PKG_VERSION"));
    let run = text_of(run)?;
    // A login shell knows modules.
    let shell = if settings.modules.is_empty() { "#!/bin/bash" } else { "#!/bin/bash -l" };
    let mut script = format!(
        "{shell}\n# Array {number}: task i runs the trials in line i + 1 of {number}.tasks beside this file, one after the other.\n\
         # Written by host {version}.\n"
    );
    for option in options(run, &cluster, array, settings)? {
        let _ = writeln!(script, "#SBATCH {}", directive(&option));
    }
    script.push('\n');
    for module in &settings.modules {
        let _ = writeln!(script, "module load {} || exit", shell_word(module));
    }
    if !settings.prologue.is_empty() {
        let _ = writeln!(script, "{}\n", settings.prologue.trim_end());
    }
    for (variable, value) in &arguments.environment {
        let _ = writeln!(script, "export {variable}={}", shell_word(value));
    }
    let tasks = cluster.tasks(number);
    let mut words = vec![text_of(program)?.to_owned(), "trial".to_owned(), run.to_owned()];
    words.extend(["--tasks".to_owned(), text_of(&tasks)?.to_owned()]);
    for directory in &arguments.plugins.directories {
        words.extend(["--plugin-dir".to_owned(), text_of(directory)?.to_owned()]);
    }
    words.extend(arguments.plugins.allow_insecure.then(|| "--allow-insecure-plugins".to_owned()));
    words.extend(arguments.allow_changed_plugins.then(|| "--allow-changed-plugins".to_owned()));
    words.extend(["--patience".to_owned(), arguments.patience.to_string()]);
    words.extend(
        arguments.step_timeout.into_iter().flat_map(|limit| ["--step-timeout".to_owned(), limit.to_string()]),
    );
    words.extend(settings.scratch.iter().flat_map(|folder| ["--scratch".to_owned(), folder.clone()]));
    words.extend((0..arguments.verbose).map(|_| "-v".to_owned()));
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    // In the shell's place, so that signals for the task reach the host.
    let _ = writeln!(script, "exec {} --task \"$SLURM_ARRAY_TASK_ID\"", words.join(" "));
    Ok(script)
}

/// The options of `sbatch`; those of the user come last and win.
fn options(
    run: &str,
    cluster: &ClusterFolder,
    array: &Array,
    settings: &Cluster,
) -> Result<Vec<String>, Diagnostic> {
    let log = cluster.log(array.number, "%a");
    let log = text_of(&log)?;
    if run.contains('\\') {
        return Err(Diagnostic::new(format!("a run in {run} cannot be handed to Slurm"))
            .because("Slurm treats a backslash in the paths of its logs in its own way")
            .hint("--output names another folder"));
    }
    // `%` stands for a number there; of ours only the last one does.
    let log = log.replace(run, &run.replace('%', "%%"));
    let last = array.tasks.len().saturating_sub(1);
    let limit = settings.concurrency.map(|limit| format!("%{limit}")).unwrap_or_default();
    let notice = settings.time.map_or(NOTICE, |time| NOTICE.min(time / 4)).as_secs().max(1);
    let mut options = vec![
        format!("--job-name={}", array.name),
        format!("--array=0-{last}{limit}"),
        format!("--output={log}"),
        "--open-mode=append".to_owned(),
        "--requeue".to_owned(),
        format!("--signal=B:USR1@{notice}"),
    ];
    for (name, value) in [
        ("partition", &settings.partition),
        ("account", &settings.account),
        ("qos", &settings.qos),
        ("constraint", &settings.constraint),
    ] {
        options.extend(value.iter().map(|value| format!("--{name}={value}")));
    }
    options.extend(settings.time.map(|time| format!("--time={}", slurm_time(time))));
    options.extend(settings.memory.map(|bytes| format!("--mem={}K", bytes.div_ceil(1024))));
    options.extend(settings.cpus.map(|cpus| format!("--cpus-per-task={cpus}")));
    options.extend(settings.sbatch.iter().cloned());
    Ok(options)
}

/// A word for `sbatch`, which takes quotes and backslashes out of the lines of a script in its own way.
fn directive(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if word.chars().all(plain) {
        return word.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in word.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted + "\""
}

/// Days, hours, minutes and seconds; a part of a second counts as one.
fn slurm_time(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    format!("{days}-{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// A path that can stand in a script.
fn text_of(path: &Path) -> Result<&str, Diagnostic> {
    path.to_str().filter(|text| !text.contains(['\n', '\r', '\0'])).ok_or_else(|| {
        Diagnostic::new(format!("{} cannot stand in a script", path.display()))
            .because("it has an end of a line in it, or is no text")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn written(run: &str, settings: &Cluster) -> Result<String, Diagnostic> {
        let tasks = vec![vec!["a-seed1".parse().unwrap()], vec!["a-seed2".parse().unwrap()]];
        let name = "x-first-3-0a1b2c".to_owned();
        let array = Array {
            number: 3,
            name,
            job: None,
            withdrawn: false,
            cancelled: false,
            tasks,
            ends: BTreeMap::new(),
            written: None,
        };
        let directories = vec!["/opt/it's mine".into()];
        let arguments = TaskArguments {
            plugins: PluginArguments { directories, allow_insecure: false },
            allow_changed_plugins: true,
            patience: 60.0,
            step_timeout: Some(2.5),
            verbose: 1,
            environment: vec![("HOST_PLUGIN_PATH", "/a b:/c".to_owned())],
        };
        script(Path::new(run), &array, settings, Path::new("/opt/my host/host"), &arguments)
    }

    #[test]
    fn a_script_quotes_whatever_it_is_given() {
        let _snapshots = snapshots::in_folder("cluster");
        let settings = Cluster {
            partition: Some("short".to_owned()),
            account: Some("$(touch owned); a\"b\\c".to_owned()),
            constraint: Some("gpu&[fast|new]".to_owned()),
            time: Some(Duration::from_secs(3 * 86_400 + 3600)),
            memory: Some(4_000_000_000),
            cpus: Some(2),
            concurrency: Some(50),
            modules: vec!["rust/1.89".to_owned(), "a; rm -rf /".to_owned()],
            prologue: "ulimit -c 0\n".to_owned(),
            sbatch: vec!["--gres=gpu:1".to_owned(), "--comment=it's \"fine\" # really".to_owned()],
            scratch: Some("$SLURM_TMPDIR/a b".to_owned()),
            ..Cluster::default()
        };
        insta::assert_snapshot!(written("/data/100% it's \"mine\" $HOME/x/first", &settings).unwrap());
    }

    #[test]
    fn without_settings_little_is_asked_for() {
        let script = written("/data/x/first", &Cluster::default()).unwrap();
        assert!(script.contains("#SBATCH --array=0-1\n"), "{script}");
        assert!(!script.contains("--partition") && !script.contains("--time="), "{script}");
    }

    #[test]
    fn paths_that_slurm_would_misread_are_refused() {
        assert!(written("/data/a\\b", &Cluster::default()).is_err());
        assert!(written("/data/a\nb", &Cluster::default()).is_err());
    }
}
