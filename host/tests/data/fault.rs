//! A benchmark that fails in the way that its options say, at every point whose first two bits are set.

use std::io::Write;

use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Space, export_benchmark, options};

options! {
    /// What goes wrong.
    pub struct Options {
        /// The fault.
        pub fault: String = "none".to_owned(),
        /// A folder for faults that need one.
        pub folder: String = String::new(),
        /// How long what it starts sleeps: a number by which a test finds it among all processes.
        pub sleep: String = "1000".to_owned(),
        /// Milliseconds that an evaluation takes, up to four times as many at some points.
        pub slow: u64 = 0,
    }
}

export_benchmark!("fault", |options: Options, _seed: u64| {
    // Who reads the file knows whether this code ran, and whose it was: a test writes over the words in a copy.
    if options.fault == "signed" {
        let mut file = std::fs::File::options().append(true).create(true).open(&options.folder).map_err(Error::wrap)?;
        writeln!(file, "this code is by its own author").map_err(Error::wrap)?;
    }
    if options.fault == "made" {
        std::process::exit(7);
    }
    Result::Ok(Fault(options))
});

struct Fault(Options);

impl Benchmark for Fault {
    fn space(&self) -> Result<Space> {
        if self.0.fault == "space" {
            std::process::abort();
        }
        Ok(Space::binary(6))
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        plugin_api::tracing::info!("a sample arrives");
        plugin_api::tracing::debug!("it is weighed");
        plugin_api::tracing::trace!("the door is closed");
        let times = 1 + u64::from(point.iter().zip(1..).map(|(level, i)| level * i).sum::<u32>() % 4);
        std::thread::sleep(std::time::Duration::from_millis(self.0.slow * times));
        if self.0.fault == "always" || (point[0] == 1 && point[1] == 1) {
            self.fail(point)?;
        }
        let sum = point.iter().map(|&level| f64::from(level)).sum::<f64>();
        // As far apart as numbers can be.
        let huge = if sum > 3.0 { 1e308 } else { -1e308 };
        Ok(if self.0.fault == "huge" { huge } else { sum }.into())
    }
}

impl Fault {
    fn sleep(&self, program: &str) -> std::process::Command {
        let mut command = std::process::Command::new(program);
        command.arg(&self.0.sleep);
        command
    }

    fn fail(&self, point: &Point) -> Result<()> {
        match self.0.fault.as_str() {
            "none" | "huge" | "signed" => {}
            "always" | "error" => return Err(Error::new("the reagent ran out")),
            "colours" => return Err(Error::new("\u{1b}]0;owned\u{7}\u{1b}[2Jgone\u{9b}31m")),
            "panic" => panic!("the robot fell over"),
            // SAFETY: none; this is the crash of a plugin that promised what it did not keep.
            "segfault" => unsafe { std::ptr::null_mut::<u8>().write_volatile(1) },
            "abort" => std::process::abort(),
            "exit" => std::process::exit(0),
            "loop" => loop {
                std::hint::black_box(());
            },
            // One gigabyte, each page of it touched.
            "memory" => {
                let mut hoard = vec![0_u8; 1 << 30];
                hoard.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
                std::hint::black_box(&hoard);
            }
            "stopped" => {
                let me = std::process::id().to_string();
                std::process::Command::new("kill").args(["-STOP", &me]).status().map_err(Error::wrap)?;
            }
            // No end of a line, and words that look like the process's own.
            "stdout" => {
                print!("{}", "x".repeat(10_000_000));
                println!("\n{{\"failed\":{{\"reason\":\"not so\"}}}}");
                print!("{{\"advanced\":");
                return Err(Error::new("it talks too much"));
            }
            "orphans" => {
                self.sleep("sleep").spawn().map_err(Error::wrap)?;
                std::process::abort();
            }
            // It goes its own ways: another session, another parent, all pipes kept open.
            "daemon" => {
                let script = format!("setsid sleep {} & exit", self.0.sleep);
                std::process::Command::new("sh").args(["-c", &script]).status().map_err(Error::wrap)?;
            }
            // A simulator that takes its time, below a shell.
            "wait" => {
                let script = format!("setsid sleep {0} & sleep {0}", self.0.sleep);
                std::process::Command::new("sh").args(["-c", &script]).status().map_err(Error::wrap)?;
            }
            // One daemon after the other, each of another session and with nothing of its parents', as fast as it can.
            "daemons" => {
                for _ in 0..50 {
                    let script = format!("exec env -i PATH=\"$PATH\" setsid sleep {} &", self.0.sleep);
                    std::process::Command::new("sh").args(["-c", &script]).status().map_err(Error::wrap)?;
                }
                self.sleep("sleep").status().map_err(Error::wrap)?;
            }
            // A worker without a program of its own has all that was open in its parent.
            "fork" => {
                unsafe extern "C" {
                    fn fork() -> i32;
                }
                // SAFETY: the child calls nothing but `sleep`, and ends.
                if unsafe { fork() } == 0 {
                    std::thread::sleep(std::time::Duration::from_secs(1000));
                    std::process::abort();
                }
                std::thread::sleep(std::time::Duration::from_secs(1000));
            }
            // It reads until its input ends.
            "input" => {
                let read = std::process::Command::new("cat").output().map_err(Error::wrap)?;
                return Err(Error::new(format!("{} bytes of input", read.stdout.len())));
            }
            // Somebody kills the process at the first tries of each point.
            "killed" => {
                let tries = format!("{}/{point:?}", self.0.folder);
                let seen = std::fs::read_to_string(&tries).unwrap_or_default();
                if seen.len() < self.0.sleep.parse().map_err(Error::wrap)? {
                    std::fs::write(&tries, seen + "x").map_err(Error::wrap)?;
                    let me = std::process::id().to_string();
                    std::process::Command::new("kill").args(["-KILL", &me]).status().map_err(Error::wrap)?;
                    std::thread::sleep(std::time::Duration::from_secs(1000));
                }
            }
            "elsewhere" => std::env::set_current_dir("/").map_err(Error::wrap)?,
            // The first try of each point fails.
            "flaky" => {
                let seen = format!("{}/{point:?}", self.0.folder);
                if !std::path::Path::new(&seen).exists() {
                    std::fs::write(&seen, "").map_err(Error::wrap)?;
                    std::process::abort();
                }
            }
            "vanish" => std::fs::remove_dir_all(&self.0.folder).map_err(Error::wrap)?,
            other => return Err(Error::new(format!("no fault named {other}"))),
        }
        Ok(())
    }
}
