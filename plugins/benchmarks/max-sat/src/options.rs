plugin_api::options! {
    /// Which clauses to satisfy, and what they are worth.
    pub(crate) struct Options {
        /// A DIMACS WCNF file, in its old format (`p wcnf variables clauses top`) or the new one (`h` for hard clauses),
        /// in place of a generated instance. A relative path is taken from the working directory of the process, not
        /// from the manifest. The plan remembers the path, not what the file says.
        pub(crate) file: Option<String> = None,
        /// Number of variables of a generated instance.
        #[schemars(range(min = 1, max = 10_000))]
        pub(crate) variables: usize = 20,
        /// Number of clauses of a generated instance.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub(crate) clauses: usize = 100,
        /// Number of literals in each clause of a generated instance, all of different variables.
        #[schemars(range(min = 1, max = 100))]
        pub(crate) length: usize = 3,
        /// The weights of a generated instance are whole numbers chosen uniformly from 1 to this one.
        #[schemars(range(min = 1, max = 1_000_000_000))]
        pub(crate) largest_weight: u32 = 10,
        /// What becomes of the weights, generated or read.
        pub(crate) weights: Weights = Weights::Standardised,
        /// Seed of a generated instance. By default every seed of the experiment has an instance of its own.
        pub(crate) seed: Option<u64> = None,
    }
}

plugin_api::options! {
    /// What becomes of the weights.
    pub(crate) enum Weights {
        /// (w − mean)/deviation, over all clauses that are not hard, as COMBO's experiments have it. To satisfy a
        /// clause of less than average weight then costs something.
        #[default]
        Standardised,
        /// They stay as they are.
        Plain,
    }
}
