//! How long a run will still take.
//!
//! An evaluation late in a trial costs more than an early one, because the model has more to learn from, and methods
//! and points of a sweep differ. So the seconds of each evaluation are kept by its number and by the kind of its
//! trial (its name without the seed), what is left of every trial is priced with them, and the trials that wait are
//! given to the jobs as these become free. What nobody has measured yet is told by the line through the last ones of its
//! kind, or by the kind that is most like it.

use std::collections::{BTreeMap, VecDeque};

use crate::plan::TrialId;
use crate::run::executor::Job;

/// Evaluations at the beginning of a trial that had begun before and that come faster than this are read from its journal,
/// not made.
const READ: f64 = 0.003;

/// A line goes through the last third of what was measured, but not through fewer than this.
const FEW: usize = 8;

/// What has been measured, and what is left.
#[derive(Default)]
pub(super) struct Estimate {
    /// The trials that have not begun, in the order in which they will.
    waiting: VecDeque<Job>,
    running: BTreeMap<TrialId, Running>,
    /// The most trials that ran at a time.
    jobs: usize,
    costs: BTreeMap<Kind, Profile>,
}

/// What trials have in common that differ by nothing but their seed: the method, and the point of the sweep.
type Kind = (String, Option<usize>);

fn kind(id: &TrialId) -> Kind {
    (id.method.clone(), id.point)
}

struct Running {
    job: Job,
    made: usize,
    /// When the last evaluation ended.
    last: f64,
    reading: bool,
}

/// What trials of a kind have cost.
#[derive(Default)]
struct Profile {
    /// Points of the initial design: no model is asked for them.
    initial: Mean,
    /// Each proposal, by its number from 1.
    proposals: BTreeMap<usize, Mean>,
    /// From the last evaluation to the end of the process.
    end: Mean,
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, seconds: f64) {
        self.sum += seconds;
        self.count += 1;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl Estimate {
    /// The trials in the order in which they begin.
    pub(super) fn new(trials: &[Job]) -> Self {
        Self { waiting: trials.iter().cloned().collect(), ..Self::default() }
    }

    pub(super) fn begins(&mut self, job: &Job, now: f64) {
        // Among the first few: jobs begin one after the other, and tell so at about the same time.
        if let Some(place) = self.waiting.iter().position(|waiting| waiting.id == job.id) {
            self.waiting.remove(place);
        }
        let running = Running { job: job.clone(), made: 0, last: now, reading: job.begun };
        self.running.insert(job.id.clone(), running);
        self.jobs = self.jobs.max(self.running.len());
    }

    pub(super) fn evaluated(&mut self, id: &TrialId, evaluation: usize, now: f64) {
        let Some(running) = self.running.get_mut(id) else { return };
        let seconds = (now - running.last).max(0.0);
        let steps = evaluation.saturating_sub(running.made);
        running.last = now;
        running.made = evaluation;
        running.reading &= seconds < READ;
        if !running.reading && steps == 1 {
            let profile = self.costs.entry(kind(id)).or_default();
            match evaluation.checked_sub(running.job.initial) {
                None | Some(0) => profile.initial.add(seconds),
                Some(proposal) => profile.proposals.entry(proposal).or_default().add(seconds),
            }
        }
    }

    pub(super) fn ends(&mut self, id: &TrialId, now: f64) {
        if let Some(ended) = self.running.remove(id)
            && ended.made == ended.job.evaluations
            && !ended.reading
        {
            self.costs.entry(kind(id)).or_default().end.add(now - ended.last);
        }
    }

    /// Seconds until the last trial ends; `None` while no proposal has been measured, where there will be some.
    pub(super) fn seconds_left(&self, now: f64) -> Option<f64> {
        let mut left = self.running.values().map(|running| &running.job).chain(&self.waiting);
        let is_known = |profile: &Profile| !profile.proposals.is_empty();
        if self.costs.is_empty()
            || left.any(|job| job.evaluations > job.initial) && !self.costs.values().any(is_known)
        {
            return None;
        }
        // When each job becomes free.
        let mut free: Vec<f64> = self
            .running
            .values()
            .map(|running| {
                let left = self.price(&running.job, running.made);
                // Part of what is under way has passed.
                let after = self.price(&running.job, (running.made + 1).min(running.job.evaluations));
                let next = if running.made < running.job.evaluations { left - after } else { left };
                left - (now - running.last).clamp(0.0, next)
            })
            .collect();
        free.resize(self.jobs.max(1), 0.0);
        // Trials of a kind have the same budget, and there may be thousands.
        let mut whole: BTreeMap<Kind, f64> = BTreeMap::new();
        for job in &self.waiting {
            let seconds = *whole.entry(kind(&job.id)).or_insert_with(|| self.price(job, 0));
            let soonest = free.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("there is a job");
            *soonest += seconds;
        }
        free.into_iter().reduce(f64::max)
    }

    /// What a trial costs from evaluation `made` on, to the end of its process.
    fn price(&self, job: &Job, made: usize) -> f64 {
        let own = self.costs.get(&kind(&job.id));
        let all = || self.costs.values();
        let initial = job.initial.saturating_sub(made) as f64;
        let point = own.and_then(|own| own.initial.get()).or_else(|| mean(all().map(|other| other.initial)));
        let end = own.and_then(|own| own.end.get()).or_else(|| mean(all().map(|other| other.end)));
        let like = own.filter(|own| own.proposals.len() > 1).or_else(|| self.most_like(&job.id));
        let from = made.saturating_sub(job.initial);
        let proposals = like.map(|like| like.proposals(from, job.evaluations.saturating_sub(job.initial)));
        initial * point.unwrap_or(0.0) + proposals.unwrap_or(0.0) + end.unwrap_or(0.0)
    }

    /// The kind that says most of one of which nothing is known: of the same method where there is one, and near it in the
    /// sweep.
    fn most_like(&self, id: &TrialId) -> Option<&Profile> {
        let distance = |point: Option<usize>| point.unwrap_or(0).abs_diff(id.point.unwrap_or(0));
        self.costs
            .iter()
            .filter(|(_, profile)| !profile.proposals.is_empty())
            .min_by_key(|((method, point), _)| (*method != id.method, distance(*point)))
            .map(|(_, profile)| profile)
    }
}

fn mean(means: impl Iterator<Item = Mean>) -> Option<f64> {
    means
        .fold(Mean::default(), |all, one| Mean { sum: all.sum + one.sum, count: all.count + one.count })
        .get()
}

impl Profile {
    /// What the proposals after `from` up to `to` cost.
    fn proposals(&self, from: usize, to: usize) -> f64 {
        let Some((&last, _)) = self.proposals.last_key_value().filter(|_| from < to) else { return 0.0 };
        let measured: f64 = self.proposals.range(from + 1..=to).filter_map(|(_, mean)| mean.get()).sum();
        // Further than anybody got, the line through the last ones goes on. It does not fall, and rises no faster than
        // the square of the number does: a few measured times are rough.
        let recent = self.proposals.iter().rev().take((self.proposals.len() / 3).max(FEW));
        let recent: Vec<(f64, f64)> = recent.filter_map(|(k, mean)| Some((*k as f64, mean.get()?))).collect();
        let count = recent.len() as f64;
        let middle = recent.iter().map(|(k, _)| k).sum::<f64>() / count;
        let height = recent.iter().map(|(_, seconds)| seconds).sum::<f64>() / count;
        let spread = recent.iter().map(|(k, _)| (k - middle) * (k - middle)).sum::<f64>();
        let rise = recent.iter().map(|(k, seconds)| (k - middle) * (seconds - height)).sum::<f64>();
        let slope = if spread > 0.0 { (rise / spread).clamp(0.0, 2.0 * height / middle) } else { 0.0 };
        let at = |proposal: usize| height + slope * (proposal as f64 - middle);
        let further: f64 = (from.max(last) + 1..=to).map(at).sum();
        measured + further
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TrialId {
        text.parse().unwrap()
    }

    fn job(text: &str, initial: usize, evaluations: usize) -> Job {
        Job { id: id(text), evaluations, initial, begun: false, timeout: None }
    }

    /// Runs trials on `jobs` jobs up to `until`, and answers the estimate and what is really left. A trial's evaluation k
    /// takes `cost(job, k)` seconds; from its last one to the end of its process it is `cost(job, evaluations + 1)`.
    fn simulate(trials: &[Job], jobs: usize, cost: impl Fn(&Job, usize) -> f64, until: f64) -> (f64, f64) {
        let mut events: Vec<(f64, usize, usize)> = Vec::new(); // time, trial, evaluation; 0 begins, n + 1 ends
        let mut free = vec![0.0; jobs];
        for (trial, job) in trials.iter().enumerate() {
            let worker = (0..jobs).min_by(|&a, &b| f64::total_cmp(&free[a], &free[b])).unwrap();
            events.push((free[worker], trial, 0));
            for k in 1..=job.evaluations + 1 {
                free[worker] += cost(job, k);
                events.push((free[worker], trial, k));
            }
        }
        let end = free.into_iter().fold(0.0, f64::max);
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut estimate = Estimate::new(trials);
        for (time, trial, k) in events.into_iter().take_while(|(time, _, _)| *time <= until) {
            let job = &trials[trial];
            match k {
                0 => estimate.begins(job, time),
                k if k > job.evaluations => estimate.ends(&job.id, time),
                k => estimate.evaluated(&job.id, k, time),
            }
        }
        (estimate.seconds_left(until).unwrap(), end - until)
    }

    /// Seeds of one method, without an initial design.
    fn seeds(trials: usize, evaluations: usize) -> Vec<Job> {
        (1..=trials).map(|seed| job(&format!("m-seed{seed}"), 0, evaluations)).collect()
    }

    fn assert_close((estimated, real): (f64, f64), tolerance: f64) {
        assert!((estimated - real).abs() <= tolerance * real.max(1.0), "{estimated} is not {real}");
    }

    #[test]
    fn after_one_trial_the_rest_is_known() {
        let growing = |_: &Job, k: usize| 0.1 + 0.01 * (k * k) as f64;
        assert_close(simulate(&seeds(7, 20), 1, growing, 70.0), 0.02);
        assert_close(simulate(&seeds(7, 20), 3, growing, 70.0), 0.02);
    }

    #[test]
    fn later_evaluations_are_expected_to_cost_more() {
        // A third of the first trial is over; cost grows with the number.
        let growing = |job: &Job, k: usize| if k > job.evaluations { 0.0 } else { 0.1 * k as f64 };
        let (estimated, real) = simulate(&seeds(4, 30), 2, growing, 5.0);
        assert_close((estimated, real), 0.05);
        // What a constant rate would say: 55 of 465 tenths are over.
        assert!(real > 5.0 / 10.0 * (120.0 - 10.0) * 1.2, "{real}");
    }

    #[test]
    fn points_of_the_initial_design_say_nothing_of_proposals() {
        let cost = |job: &Job, k: usize| match k {
            k if k <= job.initial => 0.001,
            k if k > job.evaluations => 0.2,
            k => 0.5 + 0.01 * (k - job.initial) as f64,
        };
        let trials: Vec<Job> = (1..=6).map(|seed| job(&format!("m-seed{seed}"), 20, 60)).collect();
        // Six of the forty proposals of the first two are over; all of the first two; all but the last two.
        for until in [3.2, 30.0, 70.0] {
            assert_close(simulate(&trials, 2, cost, until), 0.03);
        }
    }

    #[test]
    fn methods_and_points_of_a_sweep_are_told_apart_once_each_has_been_seen() {
        // Seeds come last in the order in which trials begin.
        let mut trials = Vec::new();
        for seed in 1..=5 {
            for point in 1..=3 {
                trials.push(job(&format!("slow-sweep{point}-seed{seed}"), 2, 12));
                trials.push(job(&format!("fast-sweep{point}-seed{seed}"), 2, 12));
            }
        }
        let cost = |job: &Job, k: usize| {
            let method = if job.id.method == "slow" { 1.0 } else { 0.001 };
            let point = job.id.point.unwrap() as f64;
            method * point * point * point * (1.0 + 0.1 * k as f64)
        };
        let whole = simulate(&trials, 2, cost, 60.0).1 + 60.0;
        for share in [0.25, 0.5, 0.75, 0.95] {
            assert_close(simulate(&trials, 2, cost, share * whole), 0.2);
        }
    }

    #[test]
    fn a_method_that_is_fast_from_the_first_evaluation_on_is_not_taken_for_one_that_is_read() {
        let trials: Vec<Job> =
            ["slow-seed1", "fast-seed1", "fast-seed2", "fast-seed3"].map(|name| job(name, 2, 12)).into();
        let cost = |job: &Job, _: usize| if job.id.method == "slow" { 1.0 } else { 0.001 };
        assert_close(simulate(&trials, 1, cost, 13.02), 0.05);
    }

    #[test]
    fn the_last_trials_do_not_fill_all_jobs() {
        // 5 trials on 4 jobs take twice as long as 4.
        let even = |job: &Job, k: usize| if k > job.evaluations { 0.0 } else { 1.0 };
        assert_close(simulate(&seeds(5, 10), 4, even, 5.0), 0.01);
        assert_close(simulate(&seeds(5, 10), 4, even, 12.0), 0.01);
    }

    #[test]
    fn a_trial_that_made_all_its_evaluations_has_its_end_before_it() {
        let mut estimate = Estimate::new(&seeds(2, 2));
        for seed in ["m-seed1", "m-seed2"] {
            estimate.begins(&job(seed, 0, 2), 0.0);
            (1..=2).for_each(|k| estimate.evaluated(&id(seed), k, k as f64));
        }
        assert_eq!(estimate.seconds_left(2.5), Some(0.0));
        estimate.ends(&id("m-seed1"), 3.0);
        assert_eq!(estimate.seconds_left(2.5), Some(0.5));
        estimate.ends(&id("m-seed2"), 3.0);
        assert_eq!(estimate.seconds_left(3.0), Some(0.0));
    }

    #[test]
    fn what_is_read_from_a_journal_says_nothing() {
        let begun = |name: &str| Job { begun: true, ..job(name, 0, 10) };
        let mut estimate = Estimate::new(&[begun("m-seed1"), begun("m-seed2")]);
        estimate.begins(&begun("m-seed1"), 0.0);
        (1..=5).for_each(|k| estimate.evaluated(&id("m-seed1"), k, 0.0001 * k as f64));
        assert_eq!(estimate.seconds_left(0.0), None);
        estimate.evaluated(&id("m-seed1"), 6, 2.0005);
        assert!(estimate.seconds_left(2.0005).unwrap() >= 4.0 * 2.0);
    }
}
