//! From a value to a place on an axis, and the values that are written beside it.

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Evenly.
    Linear,
    /// By factors; what is not positive stands at the lower end.
    Log,
}

/// An axis: from values to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// An axis over these values, a little wider than they are; pixels from `from` to `to`.
    pub(super) fn over(kind: Kind, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let values = values.filter(|value| value.is_finite() && (kind == Kind::Linear || *value > 0.0));
        let (mut low, mut high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = if kind == Kind::Log { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        match kind {
            Kind::Linear => {
                let span = high - low;
                let margin = if span > 0.0 { 0.06 * span } else { low.abs().max(1.0) * 0.1 };
                (low, high) = (low - margin, high + margin);
            }
            Kind::Log => {
                let factor = libm::exp(0.06 * (libm::log(high) - libm::log(low)).max(0.4));
                (low, high) = ((low / factor).max(f64::MIN_POSITIVE), (high * factor).min(f64::MAX));
            }
        }
        Self { kind, low, high, from, to }
    }

    /// The same with these ends.
    pub(super) fn exact(kind: Kind, low: f64, high: f64, from: f64, to: f64) -> Self {
        Self { kind, low, high, from, to }
    }

    /// The lowest and the highest value.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The pixel of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Log => {
                let (low, high) = (libm::log(self.low), libm::log(self.high));
                (libm::log(value.max(self.low)) - low) / (high - low)
            }
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The values to be written, about `count` of them, with their texts.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let ticks = match self.kind {
            Kind::Linear => self.even(count),
            Kind::Log => {
                let decades = self.decades(count);
                if decades.len() >= 2 { decades } else { self.even(count) }
            }
        };
        ticks.into_iter().map(|(value, step)| (value, label(value, step))).collect()
    }

    fn even(&self, count: usize) -> Vec<(f64, f64)> {
        let rough = (self.high - self.low) / count.max(1) as f64;
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let steps = [1.0, 2.0, 5.0, 10.0];
        let step = steps.into_iter().map(|step| step * power).find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(power * 10.0);
        let first = (self.low / step).ceil();
        let number = ((self.high / step).floor() - first).max(-1.0) as usize;
        (0..=number.min(40))
            .map(|i| ((first + i as f64) * step, step))
            .filter(|(v, _)| *v <= self.high)
            .collect()
    }

    fn decades(&self, count: usize) -> Vec<(f64, f64)> {
        let power = |value: f64| libm::log10(value);
        let (first, last) = (power(self.low).ceil() as i32, power(self.high).floor() as i32);
        let every = (last - first + 1).max(1).div_euclid(count.max(1) as i32).max(1);
        let ten = |power: i32| libm::pow(10.0, f64::from(power));
        let mut ticks: Vec<(f64, f64)> =
            (first..=last).filter(|power| power % every == 0).map(|p| (ten(p), ten(p))).collect();
        if last - first < 2 {
            // Few decades: 2 and 5 as well.
            for power in first - 1..=last {
                let between = [2.0, 5.0].map(|factor| (factor * ten(power), ten(power)));
                ticks.extend(between.into_iter().filter(|(v, _)| (self.low..=self.high).contains(v)));
            }
            ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        ticks
    }
}

/// A value with the digits that its neighbours differ in.
fn label(value: f64, step: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        let text = format!("{value:.1e}");
        return text.replace(".0e", "e").replace('-', "−");
    }
    let digits = (-libm::floor(libm::log10(step) + 1e-9)).clamp(0.0, 8.0) as usize;
    // No `-0`.
    let value = if size < step * 1e-6 { 0.0 } else { value };
    format!("{value:.digits$}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, count: usize) -> Vec<String> {
        scale.ticks(count).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(
            texts(Scale::exact(Kind::Linear, -0.12, 0.31, 0.0, 1.0), 5),
            ["−0.1", "0.0", "0.1", "0.2", "0.3"]
        );
        assert_eq!(texts(Scale::exact(Kind::Linear, 0.0, 80.0, 0.0, 1.0), 5), ["0", "20", "40", "60", "80"]);
        assert_eq!(texts(Scale::exact(Kind::Log, 2e-5, 0.02, 0.0, 1.0), 5), ["0.0001", "0.001", "0.01"]);
        assert_eq!(texts(Scale::exact(Kind::Log, 3.0, 40.0, 0.0, 1.0), 5), ["5", "10", "20"]);
        assert_eq!(texts(Scale::exact(Kind::Log, 1e-9, 1e-6, 0.0, 1.0), 5), ["1e−9", "1e−8", "1e−7", "1e−6"]);
    }

    #[test]
    fn values_go_where_they_belong() {
        let linear = Scale::exact(Kind::Linear, 0.0, 10.0, 100.0, 200.0);
        assert_eq!([0.0, 5.0, 10.0, 20.0].map(|value| linear.at(value)), [100.0, 150.0, 200.0, 200.0]);
        let log = Scale::exact(Kind::Log, 1.0, 100.0, 0.0, 10.0);
        assert!((log.at(10.0) - 5.0).abs() < 1e-12);
        assert_eq!(log.at(0.0), 0.0);
    }

    #[test]
    fn odd_values_do_no_harm() {
        for kind in [Kind::Linear, Kind::Log] {
            for values in
                [vec![], vec![f64::NAN], vec![0.0], vec![5.0, 5.0], vec![-1.0, 0.0], vec![1e-300, 1e300]]
            {
                let scale = Scale::over(kind, values.iter().copied(), 0.0, 100.0);
                assert!(values.iter().all(|value| value.is_nan() || scale.at(*value).is_finite()));
                assert!(scale.ticks(5).len() < 60, "{kind:?} {values:?}");
            }
        }
    }
}
