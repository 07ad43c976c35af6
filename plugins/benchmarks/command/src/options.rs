use plugin_api::serde_json::{Map, Value};

plugin_api::options! {
    /// Which program to run, and over which choices.
    pub struct Options {
        /// The program and its arguments, such as `[python3, train.py]`. It is looked for in PATH, or, with a `/` in it,
        /// from `directory`. No shell reads it.
        #[schemars(extend("format" = "program"))]
        pub run: Vec<Value> = Vec::new(),
        /// The levels of each variable: `{ optimizer: [adam, sgd], layers: [1, 2, 3] }`. Numbers, words, true and false;
        /// in quotes, a number is a word. Left out where the program says its variables itself.
        pub variables: Map<String, Value> = Map::new(),
        /// The variables whose levels stand in an order.
        pub ordered: Vec<String> = Vec::new(),
        /// Whether low or high values are good; by default what the program says, or low ones.
        pub sense: Option<Direction> = None,
        /// Whether a point has the same value each time; by default what the program says, or true.
        pub deterministic: Option<bool> = None,
        /// Whether the program is started once a trial, or once an evaluation.
        pub mode: Mode = Mode::Persistent,
        /// With `mode: once`, how the program learns the point.
        pub pass: Pass = Pass::Arguments,
        /// With `mode: once`, the exit code that says that a point is infeasible.
        #[schemars(range(min = 1, max = 255))]
        pub infeasible_exit_code: Option<i32> = None,
        /// Where the program runs; a relative path is taken from the manifest's folder.
        #[schemars(extend("format" = "path"))]
        pub directory: String = ".".to_owned(),
        /// Environment variables of the program, besides those of the host.
        pub environment: Map<String, Value> = Map::new(),
        /// How many seconds a persistent program may take until it says hello.
        #[schemars(range(min = 0.001, max = 1e6))]
        pub start_seconds: f64 = 60.0,
    }
}

plugin_api::options! {
    /// Whether low or high values are good.
    pub enum Direction {
        /// Low values are good.
        #[default]
        Minimize,
        /// High values are good.
        Maximize,
    }
}

plugin_api::options! {
    /// How long a program lives.
    pub enum Mode {
        /// It answers requests in JSON lines until there are no more.
        #[default]
        Persistent,
        /// It evaluates one point, prints the value as its last line, and ends.
        Once,
    }
}

plugin_api::options! {
    /// How a program that evaluates one point learns it.
    pub enum Pass {
        /// As arguments `--name=level`, after those of `run`.
        #[default]
        Arguments,
        /// As environment variables.
        Environment,
    }
}
