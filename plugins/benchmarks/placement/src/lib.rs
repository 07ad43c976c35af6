//! Where to put processing elements on a grid: Σ traffic × Manhattan distance over all pairs, minimised.
//!
//! Hardware placement, or the quadratic assignment problem on a grid. Each element is a variable whose levels are the
//! positions `r1c1`, `r1c2`, …; that no two share one is a constraint for each position.

use plugin_api::{
    Benchmark, Constraint, Error, Evaluation, Literal, Point, Result, Space, Variable, export_benchmark,
};

mod graph; // who sends whom how much
mod minimum; // the best placement of few elements
mod options; // what a manifest may set, and its limits

use graph::Graph;
use options::Options;

export_benchmark!("placement", |options: Options, seed: u64| Placement::new(&options, seed));

struct Placement {
    graph: Graph,
    columns: usize,
    positions: usize,
    space: Space,
}

impl Placement {
    fn new(options: &Options, seed: u64) -> Result<Self> {
        let &Options { rows, columns, .. } = options;
        let graph = Graph::new(options, seed)?;
        let (elements, positions) = (graph.names.len(), rows * columns);
        if elements > positions {
            let option =
                if options.traffic.is_some() || options.file.is_some() { "rows" } else { "elements" };
            let why = format!("{elements} elements do not fit on {rows} × {columns} positions");
            return Err(Error::option(option, why));
        }
        let position = |i: usize| format!("r{}c{}", i / columns + 1, i % columns + 1);
        let element = |name: &String| Variable::categorical(name, (0..positions).map(position));
        let space = Space::new(graph.names.iter().map(element).collect())?;
        let at_most_one = |position: usize| Constraint::AtMost {
            count: 1,
            of: (0..elements).map(|element| Literal::new(element, position as u32)).collect(),
        };
        // One element has no other beside it.
        let constraints = if elements > 1 { (0..positions).map(at_most_one).collect() } else { Vec::new() };
        Ok(Self { graph, columns, positions, space: space.with_constraints(constraints)? })
    }

    fn distance(&self, one: usize, other: usize) -> f64 {
        let ((r1, c1), (r2, c2)) =
            ((one / self.columns, one % self.columns), (other / self.columns, other % self.columns));
        (r1.abs_diff(r2) + c1.abs_diff(c2)) as f64
    }
}

impl Benchmark for Placement {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        if !self.space.admits(point) {
            return Ok(Evaluation::infeasible("two elements share a position"));
        }
        let way = |&(i, j, amount): &(usize, usize, f64)| {
            amount * self.distance(point[i] as usize, point[j] as usize)
        };
        Ok(self.graph.edges.iter().map(way).sum::<f64>().into())
    }

    /// Of up to ten million placements, by trying those that could be best. What a bit costs depends on the encoder.
    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        let distance = |one: usize, other: usize| self.distance(one, other);
        Ok(if l1 == 0.0 { minimum::minimum(&self.graph, self.positions, &distance) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_benchmark;

    use super::*;

    fn placement(json: &str, seed: u64) -> Placement {
        Placement::new(&parse(json).unwrap(), seed).unwrap()
    }

    fn refusal(json: &str) -> String {
        match parse(json).and_then(|options: Options| Placement::new(&options, 1)) {
            Ok(_) => panic!("took {json}"),
            Err(error) => error.to_string(),
        }
    }

    const LINE: &str = r#"{ "rows": 2, "columns": 2, "traffic": [
        { "from": "a", "to": "b", "amount": 3 }, { "from": "b", "to": "c", "amount": 2 }, { "from": "a", "to": "c" } ] }"#;

    #[test]
    fn it_keeps_the_contract_of_a_benchmark() {
        check_benchmark(|| placement(r#"{ "elements": 4 }"#, 3));
        check_benchmark(|| placement(r#"{ "rows": 1, "columns": 1, "elements": 1 }"#, 3));
        check_benchmark(|| placement(LINE, 3));
    }

    #[test]
    fn a_placement_costs_traffic_times_its_way() {
        let mut line = placement(LINE, 1);
        let space = line.space().unwrap();
        // a and b in the first row, c below b: 3·1 + 2·1 + 1·2.
        let point = Point::from(vec![0, 1, 3]);
        assert_eq!(space.describe(&point), "a=r1c1 b=r1c2 c=r2c2");
        assert_eq!(line.evaluate(&point, 0).unwrap(), Evaluation::from(7.0));
        let shared = Point::from(vec![0, 0, 3]);
        assert!(!space.admits(&shared));
        assert_eq!(
            line.evaluate(&shared, 0).unwrap(),
            Evaluation::infeasible("two elements share a position")
        );
        assert_eq!(line.optimum(0.0).unwrap(), Some(7.0));
    }

    #[test]
    fn the_optimum_is_the_best_of_all_placements() {
        for seed in 0..5 {
            let mut placement =
                placement(r#"{ "rows": 2, "columns": 3, "elements": 5, "density": 0.8 }"#, seed);
            let points = (0..6u32.pow(5)).map(|i| (0..5).map(|k| i / 6u32.pow(k) % 6).collect::<Point>());
            let space = placement.space().unwrap();
            let admitted: Vec<Point> = points.filter(|point| space.admits(point)).collect();
            assert_eq!(admitted.len(), 6 * 5 * 4 * 3 * 2);
            let value = |point: &Point| placement.evaluate(point, 0).unwrap().value().unwrap();
            let best = admitted.iter().map(value).fold(f64::INFINITY, f64::min);
            assert_eq!(placement.optimum(0.0).unwrap(), Some(best));
        }
        assert_eq!(
            placement(r#"{ "rows": 5, "columns": 5, "elements": 20 }"#, 1).optimum(0.0).unwrap(),
            None
        );
    }

    #[test]
    fn what_cannot_be_placed_is_refused_with_its_place() {
        assert_eq!(refusal(r#"{ "elements": 10 }"#), "`elements`: 10 elements do not fit on 3 × 3 positions");
        assert_eq!(
            refusal(r#"{ "traffic": [{ "from": "a", "to": "b c" }] }"#),
            "`traffic[0]`: `b c` cannot be the name of an element"
        );
        assert_eq!(
            refusal(r#"{ "file": "x", "traffic": [] }"#),
            "`file`: stands beside `traffic`: one of them says it"
        );
        assert!(
            refusal(r#"{ "file": "no-such-file" }"#).starts_with("`file`: `no-such-file`: cannot be read")
        );
    }
}
