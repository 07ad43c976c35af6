//! The page while a run goes on: made again from time to time, on a thread of its own that waits for everybody else.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::analysis::differences::Differences;
use super::analysis::model::Model;
use super::written::Place;
use super::{BEST, REPORT, analysis, figures, learned, listing, page, pretty, read, record};
use crate::clock;
use crate::diagnostic::Diagnostic;
use crate::record::RunFolder;

/// The page is not made again before this many times the work that it took have passed: it takes 2 % of a run's time at most.
const SHARE: f64 = 50.0;

/// Nor before this many times the time that it took, which is longer where the machine is busy or the disk slow.
const SHARE_OF_TIME: u32 = 10;

/// Nor before this much of the run's own time, within these limits: the first minutes are looked at more often than a week.
const PART: u32 = 50;
const SOONEST: Duration = Duration::from_secs(2);
const LATEST: Duration = Duration::from_secs(60);

/// Where nothing has happened meanwhile, it is made again no sooner than this.
const WITHOUT_NEWS: Duration = Duration::from_secs(300);

/// How far the run is when a page is made.
#[derive(Clone, Copy, Debug)]
pub struct HowFar {
    /// Evaluations made, and planned.
    pub evaluations: (usize, usize),
    pub seconds_left: Option<f64>,
}

/// What a page that was made while the run went on says of itself.
pub(super) struct Moment {
    /// When it was made, in words and in seconds since 1970.
    pub words: String,
    pub seconds: u64,
    pub far: HowFar,
    /// When it will be made again.
    pub next: Duration,
}

/// Makes the page of a run that goes on.
pub struct Live {
    shared: Arc<Shared>,
    requests: Option<mpsc::SyncSender<HowFar>>,
    /// The evaluations of the last page, and when that was made.
    last: Option<(usize, Instant)>,
}

struct Shared {
    folder: PathBuf,
    begun: Instant,
    cancelled: AtomicBool,
    /// Is held while files are written.
    writing: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    busy: bool,
    /// When the page may be made again.
    next: Option<Instant>,
    pause: Duration,
    /// What went wrong last, until it is told. It is told once.
    failure: Option<String>,
    failed: bool,
    /// What the first page took, and the last.
    costs: Option<(Cost, Cost)>,
}

/// Seconds that an evaluation more takes to read, until that has been measured.
const READING: f64 = 2e-5;

/// Seconds that the report of a small run takes, until a page has been made.
const SMALLEST: f64 = 0.3;

/// What a page took.
#[derive(Clone, Copy)]
struct Cost {
    /// Evaluations that were read.
    evaluations: usize,
    /// Reading and adding up, drawing and writing: seconds of work, not of time.
    reading: f64,
    drawing: f64,
    /// What the files of all figures would take.
    figures: f64,
}

impl Live {
    pub fn new(folder: &Path) -> Self {
        let state = Mutex::new(State { pause: SOONEST, ..State::default() });
        let (folder, begun, cancelled) = (folder.to_owned(), Instant::now(), AtomicBool::new(false));
        let shared = Arc::new(Shared { folder, begun, cancelled, writing: Mutex::default(), state });
        Self { shared, requests: None, last: None }
    }

    /// Whether it is time to make the page again.
    pub fn is_due(&self) -> bool {
        let state = self.shared.state();
        !state.busy && state.next.is_none_or(|next| Instant::now() >= next)
    }

    /// Makes the page, beside everything else.
    pub fn make(&mut self, far: HowFar) {
        let made = far.evaluations.0;
        if self.last.is_some_and(|(evaluations, at)| evaluations == made && at.elapsed() < WITHOUT_NEWS) {
            return;
        }
        self.last = Some((made, Instant::now()));
        if self.requests.is_none() {
            let (sender, requests) = mpsc::sync_channel::<HowFar>(1);
            let shared = self.shared.clone();
            let work = move || {
                give_way();
                requests.into_iter().for_each(|far| shared.make(far));
            };
            match std::thread::Builder::new().name("report".to_owned()).spawn(work) {
                Ok(_) => self.requests = Some(sender),
                Err(error) => return self.shared.state().fail(error.to_string()),
            }
        }
        self.shared.state().busy = true;
        if let Some(requests) = &self.requests
            && requests.try_send(far).is_err()
        {
            self.shared.state().busy = false;
        }
    }

    /// Why the page could not be made, where that has not been told yet.
    pub fn complaint(&self) -> Option<String> {
        self.shared.state().failure.take()
    }

    /// How long the report of the whole run will take, from what its pages took.
    pub fn seconds_after(&self, planned: usize) -> f64 {
        let Some((first, last)) = self.shared.state().costs else {
            return SMALLEST + 2.0 * READING * planned as f64;
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        last.of_whole(&first, planned, cores)
    }
}

impl Drop for Live {
    /// Gives up the page that is being made, if one is: the report of the whole run takes its place. Its thread, which waits
    /// for everybody else, is not waited for, but that it writes nothing any more.
    fn drop(&mut self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
        self.requests = None;
        drop(self.shared.writing.lock());
    }
}

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, far: HowFar) {
        let (begun, before) = (Instant::now(), worked());
        let (words, seconds) = clock::now();
        let moment = Moment { words, seconds, far, next: self.state().pause };
        let made = catch_unwind(AssertUnwindSafe(|| make(self, moment)));
        let mut state = self.state();
        let work = Duration::from_secs_f64((worked() - before).max(0.0) * SHARE);
        let part = (self.begun.elapsed() / PART).clamp(SOONEST, LATEST);
        let pause = part.max(work).max(begun.elapsed() * SHARE_OF_TIME);
        (state.busy, state.pause, state.next) = (false, pause, Some(Instant::now() + pause));
        match made {
            Ok(Ok(cost)) => state.costs = Some((state.costs.map_or(cost, |(first, _)| first), cost)),
            Ok(Err(_)) if self.cancelled.load(Ordering::Relaxed) => {}
            Ok(Err(diagnostic)) => {
                let cause = diagnostic.cause.map(|cause| format!(": {cause}")).unwrap_or_default();
                state.fail(diagnostic.message + &cause);
            }
            Err(panic) => state.fail(words_of(panic.as_ref())),
        }
    }
}

impl Cost {
    /// Seconds that the report of the whole run takes. A part of the reading is there whatever has been evaluated, so that
    /// what an evaluation more takes is told by what it took more since the first page.
    fn of_whole(&self, first: &Self, planned: usize, cores: f64) -> f64 {
        let more = self.evaluations.saturating_sub(first.evaluations) as f64;
        let slope = if more > 0.0 { ((self.reading - first.reading) / more).max(0.0) } else { READING };
        let left = planned.saturating_sub(self.evaluations) as f64;
        // The tables are written while journals are read, which takes about as long again.
        (2.0 * (self.reading + slope * left) + self.figures) / cores + self.drawing
    }
}

impl State {
    fn fail(&mut self, reason: String) {
        if !std::mem::replace(&mut self.failed, true) {
            self.failure = Some(reason);
        }
    }
}

/// Reads what is recorded so far and writes the page, and the best points beside it.
fn make(shared: &Shared, moment: Moment) -> Result<Cost, Diagnostic> {
    let folder = shared.folder.as_path();
    let cannot = |error: io::Error| {
        Diagnostic::new(format!("cannot make the report in {}", folder.display())).because(error)
    };
    let go_on = || match shared.cancelled.load(Ordering::Relaxed) {
        true => Err(io::Error::from(io::ErrorKind::Interrupted)),
        false => Ok(()),
    };
    let begun = worked();
    let run = RunFolder::open(folder)?;
    let listed = listing::of_each(run.trials.len());
    let (trials, broken) =
        read(&run, |trial| record(&run, 0, listed, trial), None, &go_on).map_err(cannot)?;
    let evaluations: usize = trials.iter().map(|trial| trial.best_at.len()).sum();
    let model = Model::new(&trials);
    let reading = worked() - begun;
    go_on().map_err(cannot)?;
    let runs = [run];
    let learned = learned(&runs, &model);
    let groups = figures::figures(&model, &learned);
    go_on().map_err(cannot)?;
    let finished = trials.iter().filter(|trial| trial.is_finished()).count();
    let html = page::page(&page::Page {
        runs: &runs,
        names: &[String::new()],
        differences: &Differences::of(&[], &[]),
        counts: &[(trials.len(), finished)],
        broken: &broken,
        model: &model,
        figures: &groups,
        files: &[BEST],
        live: Some(&moment),
    });
    let drawing = worked() - begun - reading;
    let all = super::named(&groups);
    // What one takes tells what all would.
    let one = worked();
    all.iter().take(1).for_each(|(_, scene)| {
        drop((figures::svg::file(scene), figures::png::file(scene)));
    });
    let figures = (worked() - one) * all.len() as f64;
    let _writing = shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
    go_on().map_err(cannot)?;
    let mut place = Place::open(folder, true).map_err(cannot)?;
    place.announce(&[REPORT, BEST]).map_err(cannot)?;
    place.write(BEST, &pretty(&analysis::best::json(&model.settings))).map_err(cannot)?;
    place.write(REPORT, html.as_bytes()).map_err(cannot)?;
    Ok(Cost { evaluations, reading, drawing, figures })
}

/// Seconds that this process has worked: what a page takes on a busy machine is not what it will take when the run is over.
fn worked() -> f64 {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }
    #[cfg(not(unix))]
    {
        clock::now().1 as f64
    }
}

/// Lets everything else on this machine go first. Threads that this one starts do the same.
fn give_way() {
    // Elsewhere it would slow down the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!("the report is made with the run's own priority: {error}");
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_report_is_expected_to_take_what_its_parts_took() {
        let cost = |evaluations, reading| Cost { evaluations, reading, drawing: 0.5, figures: 1.0 };
        let first = cost(100, 1.0);
        let whole = |last: &Cost| last.of_whole(&first, 1000, 2.0);
        assert_eq!(
            whole(&cost(500, 1.4)),
            1.0 + 0.4 + 0.5 + 0.5 + 0.5,
            "1.4 s now, and 0.5 s for 500 evaluations more"
        );
        assert!((whole(&first) - (1.0 + 900.0 * READING + 1.0)).abs() < 1e-12);
        assert_eq!(whole(&cost(1000, 0.9)), 0.9 + 0.5 + 0.5, "nothing is left");
    }

    #[test]
    fn a_page_that_cannot_be_made_is_told_once_and_ends_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut live = Live::new(folder.path());
        let far = HowFar { evaluations: (1, 2), seconds_left: None };
        let wait = |live: &Live| {
            while live.shared.state().busy {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        assert!(live.is_due() && live.complaint().is_none());
        live.make(far);
        wait(&live);
        assert!(!live.is_due(), "not again at once");
        let complaint = live.complaint().expect("there is no run");
        assert!(complaint.contains("is not the folder of a run"), "{complaint}");
        live.make(HowFar { evaluations: (2, 2), ..far });
        wait(&live);
        assert_eq!(live.complaint(), None);
        assert!((live.seconds_after(2) - SMALLEST).abs() < 0.001, "a guess, while nothing is known");
    }
}
