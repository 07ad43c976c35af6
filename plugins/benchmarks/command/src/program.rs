//! A program: found before anything runs, started without a shell, and ended with all that it has started.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plugin_api::serde_json::Value;
use plugin_api::{Error, Result, tracing};

use crate::options::Options;
use shared_named_levels::text;

/// How long the outputs of a program that has ended are read, where something that it started keeps them open.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// How long a program may take to end after its input has.
const FAREWELL: Duration = Duration::from_secs(2);

/// No line of a program's output has more bytes than this; what is longer is cut.
pub(crate) const LONGEST_LINE: u64 = 1 << 20;

/// What to start, and how.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    /// As the manifest has it.
    words: Vec<String>,
    directory: PathBuf,
    environment: Vec<(String, String)>,
}

impl Program {
    /// Refuses a program or folder that is not there, with the place in the options.
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let is_word = |word: &Value| !matches!(word, Value::Null | Value::Array(_) | Value::Object(_));
        if let Some(i) = options.run.iter().position(|word| !is_word(word)) {
            return Err(Error::option(format!("run[{i}]"), "must be a word or a number"));
        }
        let words: Vec<String> = options.run.iter().map(text).collect();
        let Some(name) = words.first() else {
            return Err(Error::option(
                "run",
                "is missing: the program and its arguments, such as `[python3, train.py]`",
            ));
        };
        if let Some(i) = words.iter().position(|word| word.contains('\0')) {
            return Err(Error::option(format!("run[{i}]"), "has a NUL in it, which no argument can"));
        }
        let directory = std::path::absolute(&options.directory)
            .map_err(|error| Error::option("directory", error.to_string()))?;
        if !directory.is_dir() {
            return Err(Error::option("directory", format!("there is no folder {}", directory.display())));
        }
        let path = find(name, &directory).map_err(|why| Error::option("run[0]", why))?;
        let mut environment = Vec::new();
        for (name, value) in &options.environment {
            let path = format!("environment.{name}");
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(Error::option(path, "cannot be the name of an environment variable"));
            }
            if value.is_array() || value.is_object() || value.is_null() {
                return Err(Error::option(path, "must be a word, a number, true or false"));
            }
            environment.push((name.clone(), text(value)));
        }
        Ok(Self { path, words, directory, environment })
    }

    /// The program as people call it.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// The program and its arguments, as much of them as is short.
    pub(crate) fn words(&self) -> String {
        const MOST: usize = 100;
        let words = self.words.join(" ");
        match words.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &words[..end]),
            None => words,
        }
    }

    /// Where it runs.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The command with its arguments, folder and environment; inputs and outputs are for the caller to set.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.words[1..]).current_dir(&self.directory);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        // A group of its own, so that what it starts can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a command; what it says on its error output goes to the log.
    pub(crate) fn start(&self, command: &mut Command) -> Result<(Running, Said)> {
        let child = command.spawn();
        let mut child = child
            .map_err(|error| Error::new(format!("{} cannot be started: {error}", self.path.display())))?;
        let stderr = child.stderr.take();
        let running = Running { child, status: None };
        Ok((running, Said::listen(self.name(), stderr)?))
    }
}

/// Where the program `name` is: in PATH, or from the folder that it runs in.
fn find(name: &str, directory: &Path) -> Result<PathBuf, String> {
    if name.is_empty() {
        return Err("needs the name of a program".to_owned());
    }
    if name.contains(std::path::is_separator) {
        let path = directory.join(name.trim_start_matches("./"));
        return match path.metadata() {
            Ok(found) if !found.is_file() => Err(format!("{} is not a file", path.display())),
            Ok(_) if !is_executable(&path) => {
                Err(format!("{0} may not be executed; `chmod +x {0}` allows it", path.display()))
            }
            Ok(_) => Ok(path),
            Err(error) => Err(format!("there is no program {}: {error}", path.display())),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&folders)
        .map(|folder| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
    match found.find(|path| path.is_file() && is_executable(path)) {
        Some(path) => Ok(std::path::absolute(&path).unwrap_or(path)),
        None if directory.join(name).is_file() => Err(format!(
            "no program `{name}` in PATH; for the file in {}, write `./{name}`",
            directory.display()
        )),
        None => Err(format!("no program `{name}` in PATH")),
    }
}

fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    }
    #[cfg(not(unix))]
    {
        path.is_file()
    }
}

/// A process that ends with this value, with all that it has started in its group.
pub(crate) struct Running {
    pub(crate) child: Child,
    /// How it ended, once it was waited for: its number may be another's from then on.
    status: Option<ExitStatus>,
}

impl Running {
    /// Waits for the end of the process, then ends what it has left behind.
    pub(crate) fn wait(&mut self) -> std::io::Result<ExitStatus> {
        #[cfg(unix)]
        while matches!(self.waited(false), Err(rustix::io::Errno::INTR)) {}
        self.kill()
    }

    /// Lets a program end by itself, which one that reads requests does when there are no more; but not for ever.
    pub(crate) fn finish(&mut self) -> std::io::Result<ExitStatus> {
        drop(self.child.stdin.take());
        let begun = Instant::now();
        while !self.has_ended() && begun.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kill()
    }

    /// Ends the process, where it has not ended, and its group.
    pub(crate) fn kill(&mut self) -> std::io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }

    fn has_ended(&mut self) -> bool {
        #[cfg(unix)]
        {
            self.status.is_some() || !matches!(self.waited(true), Ok(None))
        }
        #[cfg(not(unix))]
        {
            !matches!(self.child.try_wait(), Ok(None))
        }
    }

    /// Whether it has ended, or until it has; it keeps its number, and its group too.
    #[cfg(unix)]
    fn waited(&self, at_once: bool) -> rustix::io::Result<Option<rustix::process::WaitIdStatus>> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let mut options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        options.set(WaitIdOptions::NOHANG, at_once);
        waitid(WaitId::Pid(Pid::from_child(&self.child)), options)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// What a program says on its error output: in the log at once, and its last lines for the reason of a failure.
pub(crate) struct Said(Arc<Lines>);

#[derive(Default)]
struct Lines {
    last: Mutex<(VecDeque<String>, bool)>,
    ended: Condvar,
}

impl Lines {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<String>, bool)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many of the last lines are told, and how many characters of them.
const TOLD_LINES: usize = 5;
const TOLD_CHARACTERS: usize = 600;

impl Said {
    fn listen(name: String, output: Option<impl Read + Send + 'static>) -> Result<Self> {
        let lines = Arc::new(Lines::default());
        let heard = lines.clone();
        thread(move || {
            let mut output = output.map(BufReader::new);
            let mut line = Vec::new();
            while let Some(output) = &mut output {
                line.clear();
                match output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => break,
                    Ok(_) => {}
                }
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if text.is_empty() {
                    continue;
                }
                tracing::info!("{name}: {text}");
                let (last, _) = &mut *heard.lock();
                if last.len() == TOLD_LINES {
                    last.pop_front();
                }
                last.push_back(text);
            }
            heard.lock().1 = true;
            heard.ended.notify_all();
        })?;
        Ok(Self(lines))
    }

    /// `; it said: …` with the last lines of a program that has ended, where it said anything.
    pub(crate) fn last_words(&self) -> String {
        let waited = self.0.ended.wait_timeout_while(self.0.lock(), LINGER, |(_, ended)| !*ended);
        let (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (last, _) = &*kept;
        let text = last.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" / ");
        let cut = text.chars().count().saturating_sub(TOLD_CHARACTERS);
        let told: String = text.chars().skip(cut).collect();
        match (told.is_empty(), cut) {
            (true, _) => String::new(),
            (false, 0) => format!("; it said: {told}"),
            (false, _) => format!("; it said: …{told}"),
        }
    }
}

/// How a process ended, in words.
pub(crate) fn ending(status: std::io::Result<ExitStatus>) -> String {
    let Ok(status) = status else { return "ended in a way that the system does not tell".to_owned() };
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let why = if signal == 9 { " (out of memory?)" } else { "" };
        return format!("was ended by signal {signal}{why}");
    }
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "ended".to_owned(),
    }
}

/// A thread of this plugin; that the system has none left is no reason to panic.
pub(crate) fn thread(work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = std::thread::Builder::new().name("command".to_owned()).spawn(work);
    started.map(drop).map_err(|error| Error::new(format!("the system has no thread left: {error}")))
}
