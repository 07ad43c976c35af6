//! A benchmark that breaks the promise that its options name.

use plugin_api::{Benchmark, Evaluation, Point, Result, Space, export_benchmark, options};

options! {
    /// What is wrong.
    pub struct Options {
        /// The promise that is broken.
        pub way: String = "none".to_owned(),
    }
}

export_benchmark!("wrong", |options: Options, _seed: u64| Wrong { way: options.way, calls: 0 });

struct Wrong {
    way: String,
    calls: u32,
}

impl Benchmark for Wrong {
    fn space(&self) -> Result<Space> {
        if self.way == "space" {
            static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(6);
            return Ok(Space::binary(CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
        }
        Ok(Space::binary(6))
    }
    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<Evaluation> {
        self.calls += 1;
        let ones = f64::from(point.iter().sum::<u32>());
        match self.way.as_str() {
            "determinism" => Ok((ones + f64::from(self.calls)).into()),
            "noise" => Ok((ones + seed as f64).into()),
            "panic" => panic!("the robot fell over"),
            "print" => {
                println!("look at me");
                Ok(ones.into())
            }
            "crash" => std::process::abort(),
            "hang" => loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            },
            "finite" => Ok((ones / 0.0).into()),
            _ => Ok(ones.into()),
        }
    }
    /// A value that changes from call to call is no promise that every seed gives the same.
    fn deterministic(&self) -> bool {
        self.way != "determinism"
    }
    fn optimum(&mut self, _l1: f64) -> Result<Option<f64>> {
        Ok((self.way == "optimum").then_some(4.5))
    }
}
