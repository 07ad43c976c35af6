//! The edges of a grid, and the order in which a sweep over the grid meets them.

/// A grid of cells, with an edge between any two that are neighbours.
///
/// Cells are counted by rows. An edge is the pair of its cells, the smaller first; edges stand in the order
/// of their larger cell, then of their smaller one.
pub(crate) struct Grid {
    pub(crate) edges: Vec<[usize; 2]>,
    /// The length of a line: the shorter side.
    pub(crate) width: usize,
    /// The lines of the sweep, each with its edges.
    pub(crate) lines: Vec<Vec<Step>>,
    columns: usize,
}

/// An edge, as a sweep line by line meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Which edge it is.
    pub(crate) edge: usize,
    pub(crate) place: Place,
}

/// Where an edge stands in a sweep; places of a line are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// From the line before to the same place of this line.
    Across(usize),
    /// From the place before to this place of the same line.
    Along(usize),
}

impl Grid {
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        let upright = columns <= rows;
        let (length, width) = if upright { (rows, columns) } else { (columns, rows) };
        let cell = |line: usize, place: usize| match upright {
            true => line * columns + place,
            false => place * columns + line,
        };
        // A cell's edge across comes before its edge along, and both before those of the cells after it: by
        // then every edge of the cell it replaces has been met.
        let met = |line: usize, place: usize| {
            let across = (line > 0).then(|| (cell(line - 1, place), Place::Across(place)));
            let along = (place > 0).then(|| (cell(line, place - 1), Place::Along(place)));
            across.into_iter().chain(along).map(move |(other, at)| ([other, cell(line, place)], at))
        };
        let mut edges: Vec<[usize; 2]> = (0..length)
            .flat_map(|line| (0..width).flat_map(move |place| met(line, place)))
            .map(|(edge, _)| edge)
            .collect();
        edges.sort_by_key(|&[smaller, larger]| (larger, smaller));
        let index = |[smaller, larger]: [usize; 2]| {
            edges
                .binary_search_by_key(&(larger, smaller), |&[s, l]| (l, s))
                .expect("every edge met is listed")
        };
        let step = |(edge, place)| Step { edge: index(edge), place };
        let lines = (0..length)
            .map(|line| (0..width).flat_map(|place| met(line, place)).map(step).collect())
            .collect();
        Self { edges, width, lines, columns }
    }

    /// What people call an edge: its cells by row and column, counted from 1.
    pub(crate) fn name(&self, edge: usize) -> String {
        let cell = |cell: usize| format!("({},{})", cell / self.columns + 1, cell % self.columns + 1);
        let [smaller, larger] = self.edges[edge];
        format!("{}-{}", cell(smaller), cell(larger))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::golden;

    #[test]
    fn edges_stand_in_the_order_of_the_reference() {
        for case in golden() {
            let expected: Vec<[usize; 2]> =
                case.edges.iter().map(|&[larger, smaller]| [smaller, larger]).collect();
            assert_eq!(Grid::new(case.rows, case.columns).edges, expected);
        }
    }

    #[test]
    fn edges_are_named_by_their_cells() {
        let grid = Grid::new(2, 3);
        let names: Vec<String> = (0..grid.edges.len()).map(|edge| grid.name(edge)).collect();
        let expected = [
            "(1,1)-(1,2)",
            "(1,2)-(1,3)",
            "(1,1)-(2,1)",
            "(1,2)-(2,2)",
            "(2,1)-(2,2)",
            "(1,3)-(2,3)",
            "(2,2)-(2,3)",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn lines_lie_along_the_shorter_side() {
        for (rows, columns) in [(2, 5), (5, 2), (1, 4), (4, 1), (3, 3)] {
            let grid = Grid::new(rows, columns);
            assert_eq!((grid.lines.len(), grid.width), (rows.max(columns), rows.min(columns)));
            assert_eq!(grid.edges.len(), rows * (columns - 1) + columns * (rows - 1));
            let mut met: Vec<usize> = grid.lines.iter().flatten().map(|step| step.edge).collect();
            met.sort();
            assert_eq!(met, (0..grid.edges.len()).collect::<Vec<_>>(), "each edge is met once");
        }
    }
}
