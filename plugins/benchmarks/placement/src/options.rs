plugin_api::options! {
    /// Which grid, which elements, and what they send each other.
    pub(crate) struct Options {
        /// Rows of the grid.
        #[schemars(range(min = 1, max = 100))]
        pub(crate) rows: usize = 3,
        /// Columns of the grid.
        #[schemars(range(min = 1, max = 100))]
        pub(crate) columns: usize = 3,
        /// Number of elements of a generated graph, at most one a position.
        #[schemars(range(min = 1, max = 10_000))]
        pub(crate) elements: usize = 8,
        /// The share of all pairs of elements of a generated graph that send each other something.
        #[schemars(range(min = 0, max = 1))]
        pub(crate) density: f64 = 0.4,
        /// The traffic of a generated pair is a whole number chosen uniformly from 1 to this one.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub(crate) largest_traffic: u32 = 9,
        /// Who sends whom how much, in place of a generated graph: the elements are those that are named.
        pub(crate) traffic: Option<Vec<Traffic>> = None,
        /// A file with the same: a line for each pair, `cpu dram 12.5`; `#` begins a comment. A relative path is taken from
        /// the working directory of the process. The plan remembers the path, not what the file says.
        pub(crate) file: Option<String> = None,
        /// Seed of a generated graph. By default every seed of the experiment has an instance of its own.
        pub(crate) seed: Option<u64> = None,
    }
}

plugin_api::options! {
    /// What two elements send each other.
    #[derive(PartialEq)]
    pub(crate) struct Traffic {
        /// The name of one.
        pub(crate) from: String = String::new(),
        /// The name of the other.
        pub(crate) to: String = String::new(),
        /// How much; at least 0.
        #[schemars(range(min = 0))]
        pub(crate) amount: f64 = 1.0,
    }
}
