//! Figures 1 and 2 of the paper: AFO time and AF values against the dimension.

use super::lines::{self, Lines, Series, Value};
use super::rows::{self, Around, Dots};
use super::scale::Kind;
use super::{Figure, Panel, Scene, View};
use crate::report::analysis::afo::{Estimate, SolverAt};
use crate::report::analysis::model::Model;

/// One line of such a figure: key, name, and an estimate for each dimension.
type Line = (usize, String, Vec<(usize, Estimate)>);

/// Average AFO time.
pub(super) fn times(model: &Model<'_>) -> Option<Panel> {
    let lines = by_solver(model, |at| at.seconds);
    let reference = reference(&lines);
    let milliseconds = scaled(&lines, 1e3);
    let mut views = vec![
        view(
            "time, log",
            Some("afo-time"),
            &milliseconds,
            ("AFO time", "milliseconds a problem"),
            Kind::Log,
        )?,
        view("time, linear", None, &milliseconds, ("AFO time", "milliseconds a problem"), Kind::Linear)?,
    ];
    let mut words = String::new();
    if let Some((name, bits, seconds)) = &reference {
        let relative = scaled(&lines, 1.0 / seconds);
        let axis = format!("relative to {} at {bits} bits", name.split('[').next().unwrap_or(name));
        let what = ("AFO time, relative", axis.as_str());
        views.extend(view("relative, log", Some("afo-time-relative"), &relative, what, Kind::Log));
        views.extend(view("relative, linear", None, &relative, what, Kind::Linear));
        words = format!(" Relative times are in units of {name} at {bits} bits, as in the paper.");
    }
    Some(Panel {
        id: "afo-time",
        title: super::title(model, 1, "average AFO time against dimension"),
        caption: format!(
            "How long a solver takes for one acquisition function, followed or as a shadow. Mean over trials, band: 95 % \
             bootstrap interval.{words}"
        ),
        views,
    })
}

/// How far AF values are from the lowest known and from the bound.
pub(super) fn gaps(model: &Model<'_>) -> Option<Panel> {
    let views: Vec<View> = [
        (
            "above the best known",
            "af-gap",
            "per cent above the lowest answer",
            by_solver(model, |at| at.gap_to_best),
        ),
        ("above the bound", "af-bound", "per cent above the bound", by_solver(model, |at| at.gap_to_bound)),
    ]
    .into_iter()
    .filter_map(|(label, file, axis, lines)| {
        view(label, Some(file), &lines, ("Gap of AF values", axis), Kind::Linear)
    })
    .collect();
    (!views.is_empty()).then(|| Panel {
        id: "af-gap",
        title: "How low the AF values are".to_owned(),
        caption: "Best known: the lowest of all answers to the same problem, where two solvers or more answered. Bound: the \
                  highest that any of the solvers proved. 0 is optimal."
            .to_owned(),
        views,
    })
}

/// Average per-cent improvement of the followed solver over each shadow.
pub(super) fn improvement(model: &Model<'_>) -> Option<Panel> {
    let mut lines: Vec<Line> = Vec::new();
    for (key, (name, (method, shadow))) in model.pairs.iter().enumerate() {
        let at = model.improvements.iter().filter(|at| at.method == *method && at.shadow == *shadow);
        let points: Vec<_> = at.filter_map(|at| Some((at.bits, at.percent?))).collect();
        lines.push((key, name.clone(), sorted(points)));
    }
    let view = view(
        "",
        Some("af-improvement"),
        &lines,
        ("Improvement in AF value", "per cent improvement in AF value"),
        Kind::Linear,
    )?;
    Some(Panel {
        id: "af-improvement",
        title: super::title(model, 2, "improvement in AF value against dimension"),
        caption: "100 (shadow − followed) / |shadow| on the same acquisition functions, mean over trials, band: 95 % bootstrap \
                  interval. Above 0 the followed solver found lower values. Values near 0 make large percentages: the counts \
                  in the table are safer."
            .to_owned(),
        views: vec![view],
    })
}

fn by_solver(model: &Model<'_>, of: fn(&SolverAt) -> Option<Estimate>) -> Vec<Line> {
    let line = |(key, name): (usize, &String)| {
        let at = model.by_dimension.iter().filter(|at| at.solver == *name);
        let points: Vec<_> = at.filter_map(|at| Some((at.bits, of(at)?))).collect();
        (!points.is_empty()).then(|| (key, name.clone(), sorted(points)))
    };
    model.solvers.iter().enumerate().filter_map(line).collect()
}

fn sorted(mut points: Vec<(usize, Estimate)>) -> Vec<(usize, Estimate)> {
    points.sort_by_key(|(bits, _)| *bits);
    points
}

fn scaled(lines: &[Line], factor: f64) -> Vec<Line> {
    let scale = |estimate: &Estimate| Estimate {
        mean: estimate.mean * factor,
        interval: estimate.interval.map(|mut interval| {
            interval.low *= factor;
            interval.high *= factor;
            interval
        }),
        trials: estimate.trials,
    };
    let points = |points: &[(usize, Estimate)]| points.iter().map(|(bits, e)| (*bits, scale(e))).collect();
    lines.iter().map(|(key, name, values)| (*key, name.clone(), points(values))).collect()
}

/// PSR at the smallest dimension, or the first solver where there is none.
fn reference(lines: &[Line]) -> Option<(String, usize, f64)> {
    let is_psr = |name: &str| {
        let name = name.rsplit(" · ").next().unwrap_or(name);
        name.split('[').next() == Some("psr")
    };
    let line = lines.iter().find(|(_, name, _)| is_psr(name)).or(lines.first())?;
    let (bits, estimate) = line.2.first()?;
    (estimate.mean > 0.0).then(|| (line.1.clone(), *bits, estimate.mean))
}

fn view(
    label: &str,
    file: Option<&str>,
    lines: &[Line],
    (title, axis): (&str, &str),
    kind: Kind,
) -> Option<View> {
    let scene = draw(lines, title, axis, kind)?;
    let figures = vec![Figure { file: file.map(str::to_owned), scene }];
    Some(View { label: label.to_owned(), figures })
}

/// Lines where there are several dimensions, rows where there is one.
fn draw(lines: &[Line], title: &str, axis: &str, kind: Kind) -> Option<Scene> {
    let dimensions = lines.iter().flat_map(|(_, _, points)| points.iter().map(|(bits, _)| *bits));
    let (low, high) = dimensions.fold((usize::MAX, 0), |(low, high), bits| (low.min(bits), high.max(bits)));
    if low > high {
        return None;
    }
    if low == high {
        let rows: Vec<Dots> = lines
            .iter()
            .filter_map(|(key, name, points)| {
                let (_, estimate) = points.first()?;
                let interval = estimate.interval.map(|interval| (interval.low, interval.high));
                let mean = Some(estimate.mean);
                let tip = rows::tip(name, mean, interval, estimate.trials);
                Some(Dots { key: *key, name: name.clone(), values: Vec::new(), mean, interval, tip })
            })
            .collect();
        let x = format!("{axis}, {low} bits");
        return Some(rows::dots(&Around { title, heading: "", x: &x, kind, level: None }, &rows));
    }
    let series = lines.iter().map(|(key, name, points)| {
        let point = |(bits, estimate): &(usize, Estimate)| Value {
            x: *bits as f64,
            y: estimate.mean,
            interval: estimate.interval.map(|interval| (interval.low, interval.high)),
        };
        Series { key: *key, name: name.clone(), points: points.iter().map(point).collect() }
    });
    let crosses = |value: f64| (kind == Kind::Linear).then(|| (value, String::new()));
    Some(lines::draw(&Lines {
        title: format!("{title} against dimension"),
        heading: String::new(),
        x: "dimension (bits)".to_owned(),
        y: axis.to_owned(),
        x_kind: Kind::Linear,
        y_kind: kind,
        markers: true,
        series: series.collect(),
        initial: None,
        level: crosses(0.0),
    }))
}
