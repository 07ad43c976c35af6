//! A surrogate that will not take in a value, in the way that its options say, at the sixth that it is told.

use plugin_api::{
    Acquisition, Bits, DrawRequest, Error, Evaluation, Layout, Quadratic, Result, Surrogate, export_surrogate, options,
};

options! {
    /// What goes wrong.
    pub struct Options {
        /// The fault.
        pub fault: String = "none".to_owned(),
    }
}

export_surrogate!("stubborn", |options: Options, layout: &Layout| {
    if options.fault == "made" {
        eprintln!("a last word");
        std::process::abort();
    }
    Stubborn { fault: options.fault, bits: layout.dimension(), told: 0 }
});

struct Stubborn {
    fault: String,
    bits: usize,
    told: usize,
}

impl Surrogate for Stubborn {
    fn observe(&mut self, _bits: &Bits, _evaluation: &Evaluation) -> Result<()> {
        self.told += 1;
        match (self.told, self.fault.as_str()) {
            (6, "refuse") => Err(Error::new("not this one")),
            (6, "abort") => std::process::abort(),
            (6, "slow") => {
                std::thread::sleep(std::time::Duration::from_secs(1000));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn draw(&mut self, _request: &DrawRequest) -> Result<Acquisition> {
        Ok(Quadratic::zero(self.bits).into())
    }
}
