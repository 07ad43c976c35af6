//! How many points may still be tried.

use std::time::{Duration, Instant};

use plugin_api::{Problem, Stop};

pub(crate) struct Budget {
    points: u64,
    most: u64,
    deadline: Option<(Instant, Duration)>,
    /// Requests between two looks at the clock, and those left until the next.
    patience: u32,
    left: u32,
    stop: Stop,
}

impl Budget {
    /// The limits of `problem`, from now on; the clock is read at every `patience`th request.
    pub(crate) fn new(problem: &Problem, patience: u32) -> Self {
        let deadline = problem.time_limit().map(|limit| (Instant::now(), limit));
        let most = problem.work_limit().unwrap_or(u64::MAX);
        Self { points: 0, most, deadline, patience, left: 1, stop: Stop::Done }
    }

    /// Asks to try `points` more, and answers how many may be; fewer end the search.
    pub(crate) fn spend(&mut self, points: usize) -> usize {
        if let Some((start, limit)) = self.deadline {
            self.left -= 1;
            if self.left == 0 {
                self.left = self.patience;
                if start.elapsed() >= limit {
                    self.stop = Stop::Time;
                    return 0;
                }
            }
        }
        let allowed = self.most.saturating_sub(self.points).min(points as u64);
        if allowed < points as u64 {
            self.stop = Stop::Work;
        }
        self.points += allowed;
        allowed as usize
    }

    /// How many points were tried.
    pub(crate) fn points(&self) -> u64 {
        self.points
    }

    /// Why the search ended.
    pub(crate) fn stop(&self) -> Stop {
        self.stop
    }
}
