//! How long a run will still take.
//!
//! An evaluation late in a trial costs more than an early one, because the model has more to learn from, and methods
//! and points of a sweep differ. So the seconds of each evaluation are kept by its number and by the kind of its
//! trial (its name without the seed), what is left of every trial is priced with them, and the trials that wait are
//! given to the jobs as these become free.

use std::collections::{BTreeMap, VecDeque};

use crate::plan::TrialId;
use crate::run::executor::Job;

/// Evaluations at the beginning of a trial that come faster than this are read from a journal, not made.
const READ: f64 = 0.003;

/// What has been measured, and what is left.
#[derive(Default)]
pub(super) struct Estimate {
    /// The trials that have not begun, in the order in which they will.
    waiting: VecDeque<Job>,
    running: BTreeMap<TrialId, Running>,
    /// The most trials that ran at a time.
    jobs: usize,
    /// Seconds by kind and evaluation.
    costs: BTreeMap<String, Profile>,
}

struct Running {
    evaluations: usize,
    made: usize,
    /// When the last evaluation ended.
    last: f64,
    reading: bool,
}

/// Mean seconds of each evaluation, by its number.
#[derive(Default, Clone)]
struct Profile(BTreeMap<usize, (f64, usize)>);

impl Estimate {
    /// The trials in the order in which they begin.
    pub(super) fn new(trials: &[Job]) -> Self {
        Self { waiting: trials.iter().cloned().collect(), ..Self::default() }
    }

    pub(super) fn begins(&mut self, id: &TrialId, evaluations: usize, now: f64) {
        // Among the first few: jobs begin one after the other, and tell so at about the same time.
        if let Some(place) = self.waiting.iter().position(|job| job.id == *id) {
            self.waiting.remove(place);
        }
        self.running.insert(id.clone(), Running { evaluations, made: 0, last: now, reading: true });
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
            self.costs.entry(id.without_seed()).or_default().add(evaluation, seconds);
        }
    }

    pub(super) fn ends(&mut self, id: &TrialId) {
        self.running.remove(id);
    }

    /// Seconds until the last trial ends; `None` while nothing has been measured.
    pub(super) fn seconds_left(&self, now: f64) -> Option<f64> {
        let all = self.costs.values().fold(Profile::default(), |all, one| all.and(one));
        if all.0.is_empty() {
            return None;
        }
        let price = |id: &TrialId, from: usize, to: usize| {
            self.costs
                .get(&id.without_seed())
                .filter(|profile| profile.0.len() > 1)
                .unwrap_or(&all)
                .seconds(from, to)
        };
        // When each job becomes free.
        let mut free: Vec<f64> = self
            .running
            .iter()
            .map(|(id, running)| {
                let left = price(id, running.made, running.evaluations);
                // Part of the evaluation under way has passed.
                let next = price(id, running.made, (running.made + 1).min(running.evaluations));
                left - (now - running.last).clamp(0.0, next)
            })
            .collect();
        free.resize(self.jobs.max(1), 0.0);
        for job in &self.waiting {
            let soonest = free.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("there is a job");
            *soonest += price(&job.id, 0, job.evaluations);
        }
        free.into_iter().reduce(f64::max)
    }
}

impl Profile {
    fn add(&mut self, evaluation: usize, seconds: f64) {
        let (sum, count) = self.0.entry(evaluation).or_default();
        *sum += seconds;
        *count += 1;
    }

    fn and(mut self, other: &Self) -> Self {
        for (evaluation, (sum, count)) in &other.0 {
            let entry = self.0.entry(*evaluation).or_default();
            entry.0 += sum;
            entry.1 += count;
        }
        self
    }

    /// What the evaluations after `from` up to `to` cost.
    fn seconds(&self, from: usize, to: usize) -> f64 {
        let mean = |&(sum, count): &(f64, usize)| sum / count as f64;
        let Some((&last, _)) = self.0.last_key_value().filter(|_| from < to) else { return 0.0 };
        let measured: f64 = self.0.range(from + 1..=to).map(|(_, entry)| mean(entry)).sum();
        // Further than anybody got, the line through the last ones goes on. It does not fall, and rises no faster than
        // the square of the number does: a few measured times are rough.
        let recent = self.0.iter().rev().take((self.0.len() / 2).clamp(2, 10));
        let recent: Vec<(f64, f64)> = recent.map(|(k, entry)| (*k as f64, mean(entry))).collect();
        let count = recent.len() as f64;
        let middle = recent.iter().map(|(k, _)| k).sum::<f64>() / count;
        let height = recent.iter().map(|(_, seconds)| seconds).sum::<f64>() / count;
        let spread = recent.iter().map(|(k, _)| (k - middle) * (k - middle)).sum::<f64>();
        let rise = recent.iter().map(|(k, seconds)| (k - middle) * (seconds - height)).sum::<f64>();
        let slope = if spread > 0.0 { (rise / spread).clamp(0.0, 2.0 * height / middle) } else { 0.0 };
        let at = |evaluation: usize| height + slope * (evaluation as f64 - middle);
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

    fn job(text: &str, evaluations: usize) -> Job {
        Job { id: id(text), evaluations, timeout: None }
    }

    /// Runs trials whose evaluation k takes `cost(k)` seconds on `jobs` jobs, up to `until`, and answers the estimate and what
    /// is really left.
    fn simulate(
        trials: usize,
        jobs: usize,
        evaluations: usize,
        cost: fn(usize) -> f64,
        until: f64,
    ) -> (f64, f64) {
        let names: Vec<Job> = (1..=trials).map(|i| job(&format!("m-seed{i}"), evaluations)).collect();
        let mut events: Vec<(f64, usize, usize)> = Vec::new(); // time, trial, evaluation; 0 begins, n + 1 ends
        let mut free = vec![0.0; jobs];
        for trial in 0..trials {
            let job = (0..jobs).min_by(|&a, &b| f64::total_cmp(&free[a], &free[b])).unwrap();
            events.push((free[job], trial, 0));
            for k in 1..=evaluations {
                free[job] += cost(k);
                events.push((free[job], trial, k));
            }
            events.push((free[job], trial, evaluations + 1));
        }
        let end = free.into_iter().fold(0.0, f64::max);
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut estimate = Estimate::new(&names);
        for (time, trial, k) in events.into_iter().take_while(|(time, _, _)| *time <= until) {
            match k {
                0 => estimate.begins(&names[trial].id, evaluations, time),
                k if k > evaluations => estimate.ends(&names[trial].id),
                k => estimate.evaluated(&names[trial].id, k, time),
            }
        }
        (estimate.seconds_left(until).unwrap(), end - until)
    }

    fn assert_close((estimated, real): (f64, f64), tolerance: f64) {
        assert!((estimated - real).abs() <= tolerance * real.max(1.0), "{estimated} is not {real}");
    }

    #[test]
    fn after_one_trial_the_rest_is_known() {
        let growing = |k: usize| 0.1 + 0.01 * (k * k) as f64;
        assert_close(simulate(7, 1, 20, growing, 70.0), 0.02);
        assert_close(simulate(7, 3, 20, growing, 70.0), 0.02);
    }

    #[test]
    fn later_evaluations_are_expected_to_cost_more() {
        // A third of the first trial is over; cost grows with the number.
        let (estimated, real) = simulate(4, 2, 30, |k| 0.1 * k as f64, 5.0);
        assert_close((estimated, real), 0.05);
        // What a constant rate would say: 55 of 465 tenths are over.
        assert!(real > 5.0 / 10.0 * (120.0 - 10.0) * 1.2, "{real}");
    }

    #[test]
    fn the_last_trials_do_not_fill_all_jobs() {
        // 5 trials on 4 jobs take twice as long as 4.
        assert_close(simulate(5, 4, 10, |_| 1.0, 5.0), 0.01);
        assert_close(simulate(5, 4, 10, |_| 1.0, 12.0), 0.01);
    }

    #[test]
    fn a_trial_that_made_all_its_evaluations_costs_nothing_more() {
        let mut estimate = Estimate::new(&[job("m-seed1", 2)]);
        estimate.begins(&id("m-seed1"), 2, 0.0);
        (1..=2).for_each(|k| estimate.evaluated(&id("m-seed1"), k, k as f64));
        assert_eq!(estimate.seconds_left(2.5), Some(0.0));
        estimate.ends(&id("m-seed1"));
        assert_eq!(estimate.seconds_left(3.0), Some(0.0));
    }

    #[test]
    fn what_is_read_from_a_journal_says_nothing() {
        let mut estimate = Estimate::new(&[job("m-seed1", 10), job("m-seed2", 10)]);
        estimate.begins(&id("m-seed1"), 10, 0.0);
        (1..=5).for_each(|k| estimate.evaluated(&id("m-seed1"), k, 0.0001 * k as f64));
        assert_eq!(estimate.seconds_left(0.0), None);
        estimate.evaluated(&id("m-seed1"), 6, 2.0005);
        assert!(estimate.seconds_left(2.0005).unwrap() >= 4.0 * 2.0);
    }
}
