plugin_api::options! {
    /// Which grid, and how strongly its neighbours are coupled.
    pub(crate) struct Options {
        /// Rows of the grid. Time grows with 2 to the power of the shorter side, which is 16 at the most.
        #[schemars(range(min = 1, max = 1000))]
        pub(crate) rows: usize = 4,
        /// Columns of the grid.
        #[schemars(range(min = 1, max = 1000))]
        pub(crate) columns: usize = 4,
        /// How often an edge counts in the exponent of the distribution.
        pub(crate) exponent: Exponent = Exponent::Pair,
        /// Seed of the instance. By default every seed of the experiment has an instance of its own.
        pub(crate) seed: Option<u64> = None,
        /// The couplings themselves, one an edge in the order of the variables, in place of random ones: for
        /// each cell by rows, first the edge from the cell above, then the one from the left.
        pub(crate) couplings: Option<Vec<f64>> = None,
    }
}

plugin_api::options! {
    /// How often an edge counts in the exponent of the distribution.
    // The paper sums over the edges, so `pair` is the default.
    pub(crate) enum Exponent {
        /// Once: p(z) ∝ exp(Σ J_ij z_i z_j) over the edges, as the paper writes it.
        #[default]
        Pair,
        /// Twice: p(z) ∝ exp(zᵀJz) with both triangles of J, as the authors' program computes it.
        Double,
    }
}
