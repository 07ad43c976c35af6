//! A benchmark that fails in the way that its options say, at every point whose first two bits are set.

use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Space, export_benchmark, options};

options! {
    /// What goes wrong.
    pub struct Options {
        /// The fault.
        pub fault: String = "none".to_owned(),
        /// A folder for faults that need one.
        pub folder: String = String::new(),
    }
}

export_benchmark!("fault", |options: Options, _seed: u64| Fault(options));

struct Fault(Options);

impl Benchmark for Fault {
    fn space(&self) -> Result<Space> {
        Ok(Space::binary(6))
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        if point[0] == 1 && point[1] == 1 {
            self.fail(point)?;
        }
        Ok(point.iter().map(|&level| f64::from(level)).sum::<f64>().into())
    }
}

impl Fault {
    fn fail(&self, point: &Point) -> Result<()> {
        match self.0.fault.as_str() {
            "none" => {}
            "error" => return Err(Error::new("the reagent ran out")),
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
                std::process::Command::new("sleep").arg("1000").spawn().map_err(Error::wrap)?;
                std::process::abort();
            }
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
