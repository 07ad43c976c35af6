//! A surrogate that breaks the promise that its options name.

use plugin_api::ndarray::ArrayView2;
use plugin_api::{
    Acquisition, Bits, DrawRequest, Evaluation, Layout, Predictions, Quadratic, Result, Surrogate,
    export_surrogate, options,
};

options! {
    /// What is wrong.
    pub struct Options {
        /// The promise that is broken.
        pub way: String = "none".to_owned(),
    }
}

export_surrogate!("wrong", |options: Options, layout: &Layout| Wrong {
    way: options.way,
    n: layout.dimension(),
    questions: 0,
});

struct Wrong {
    way: String,
    n: usize,
    questions: u32,
}

impl Surrogate for Wrong {
    fn observe(&mut self, _bits: &Bits, _evaluation: &Evaluation) -> Result<()> {
        Ok(())
    }
    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let mut f = Quadratic::zero(self.n);
        match self.way.as_str() {
            // Asking changes what it draws.
            "determinism" => f.add_constant(f64::from(self.questions)),
            "function" => f = Quadratic::zero(self.n + 1),
            _ => {}
        }
        Ok(Acquisition::from(f).with_penalty(request.penalty()))
    }
    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        self.questions += 1;
        let means = vec![if self.way == "predictions" { f64::NAN } else { 0.0 }; points.nrows()];
        Predictions::new(means, vec![1.0; points.nrows()]).map(Some)
    }
}
