//! A solver that lies, or fails, in the way that its options say.

use plugin_api::{Answer, Bits, Problem, Result, Rule, Solver, export_solver, options};

options! {
    /// What is wrong.
    pub struct Options {
        /// The lie.
        pub lie: String = "none".to_owned(),
    }
}

export_solver!("liar", |options: Options| Liar(options));

struct Liar(Options);

impl Solver for Liar {
    /// The first start, or the first level of everything: a point that keeps the groups.
    fn minimize(&mut self, problem: &Problem, _seed: u64) -> Result<Answer> {
        let mut bits = Bits::zeros(problem.dimension());
        problem.groups().iter().for_each(|group| bits[group.start] = true);
        if let Some(start) = problem.starts().rows().next() {
            bits = Bits::from(start);
        }
        let value = problem.objective().value(&bits);
        let honest = Answer::new(bits.clone(), value).with_bound(value - 1e9);
        Ok(match self.0.lie.as_str() {
            "value" => Answer::new(bits, value - 1.0),
            "nan" => Answer::new(bits, f64::NAN),
            "bound" => honest.with_bound(value + 1.0),
            "nan-bound" => honest.with_bound(f64::NAN),
            "groups" => {
                problem.groups().iter().for_each(|group| bits[group.clone()].fill(false));
                let value = problem.objective().value(&bits);
                Answer::new(bits, value)
            }
            "length" => Answer::new(Bits::zeros(problem.dimension() + 1), value),
            "error" => return Err("out of ideas".into()),
            "panic" => panic!("the search fell over"),
            // SAFETY: none; this is the crash of a plugin that promised what it did not keep.
            "segfault" => unsafe {
                std::ptr::null_mut::<u8>().write_volatile(1);
                honest
            },
            "exit" => std::process::exit(0),
            _ => honest,
        })
    }

    fn keeps(&self, rule: Rule) -> bool {
        if self.0.lie == "asked" {
            // SAFETY: none; this is the crash of a plugin that promised what it did not keep.
            unsafe { std::ptr::null_mut::<u8>().write_volatile(1) }
        }
        rule == Rule::Groups
    }
}
