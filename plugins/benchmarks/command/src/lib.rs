//! Any program as an objective: one that answers JSON lines for as long as the trial lives, or one that is started for each
//! point and prints its value.

use std::time::Duration;

use plugin_api::serde_json::{Map, Value};
use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Sense, Space, export_benchmark};
use shared_named_levels::Variables;

mod once; // a program that is started for each point
pub mod options; // what a manifest may set, and its limits
mod persistent; // the protocol of a program that lives as long as its trial
mod program; // found, started, listened to, ended

#[cfg(all(test, unix))]
mod tests;

use once::Once;
use options::{Direction, Mode, Options};
use persistent::{Conversation, Hello};
use program::Program;

export_benchmark!("command", |options: Options, seed: u64| Command::new(options, seed));

/// A program, and what it is asked.
pub struct Command {
    program: Program,
    way: Way,
    variables: Variables,
    space: Space,
    sense: Sense,
    deterministic: bool,
}

/// How the program is asked.
enum Way {
    Once(Once),
    Persistent {
        /// None after an answer that was none: the next evaluation starts the program again.
        conversation: Option<Conversation>,
        hello: Hello,
        instance: u64,
        limit: Duration,
    },
}

impl Command {
    /// Finds the program, and starts one that lives as long as the trial; `instance` is the seed of this objective.
    pub fn new(options: Options, instance: u64) -> Result<Self> {
        let program = Program::new(&options)?;
        let given =
            (!options.variables.is_empty()).then(|| Variables::new(&options.variables, &options.ordered));
        let given = given.transpose()?;
        let (way, hello) = match options.mode {
            Mode::Once => (Way::Once(once(&options, given.as_ref())?), Hello::default()),
            Mode::Persistent => {
                let limit = Duration::from_secs_f64(options.start_seconds);
                let begun = Conversation::begin(&program, instance, limit);
                let (conversation, hello) =
                    begun.map_err(|(error, hint)| not_begun(&program, &error, hint))?;
                let conversation = Some(conversation);
                (Way::Persistent { conversation, hello: hello.clone(), instance, limit }, hello)
            }
        };
        let variables = match (given, &hello.variables) {
            (Some(given), None) => given,
            (None, Some(own)) => own_variables(own, &hello, &options)?,
            (Some(_), Some(_)) => {
                return Err(Error::option(
                    "variables",
                    "the program says its variables itself; leave them out here",
                ));
            }
            (None, None) => {
                let example =
                    "is missing: the levels of each, such as `{ layers: [1, 2, 3], dropout: [off, on] }`";
                let own = match options.mode {
                    Mode::Persistent => "; here, or in a script in Python as `@objective(variables=…)`",
                    Mode::Once => "",
                };
                return Err(Error::option("variables", format!("{example}{own}")));
            }
        };
        let sense = match options.sense.or(hello.sense).unwrap_or_default() {
            Direction::Minimize => Sense::Minimize,
            Direction::Maximize => Sense::Maximize,
        };
        let deterministic = options.deterministic.or(hello.deterministic).unwrap_or(true);
        Ok(Self { space: variables.space()?, program, way, variables, sense, deterministic })
    }
}

/// Why a program said no hello; the line after that is for the person who wrote it.
fn not_begun(program: &Program, error: &Error, hint: Option<&str>) -> Error {
    let words = program.words();
    let why = match error.message().strip_prefix("the program ") {
        Some(why) => format!("the program `{words}` {why}"),
        None => error.message().to_owned(),
    };
    let by_hand = || {
        format!("to see all that it says, run it by hand: cd {} && {words}", program.directory().display())
    };
    Error::option("run", format!("{why}\nhint: {}", hint.map_or_else(by_hand, str::to_owned)))
}

fn own_variables(own: &Map<String, Value>, hello: &Hello, options: &Options) -> Result<Variables> {
    let ordered = if options.ordered.is_empty() { &hello.ordered } else { &options.ordered };
    let own = Variables::new(own, ordered).map_err(|error| match error.path() {
        path if path.starts_with("ordered") && !options.ordered.is_empty() => error,
        path => Error::option("run", format!("the program's own `{path}` {}", error.message())),
    })?;
    if own.names().is_empty() {
        return Err(Error::option("run", "the program says that it has no variables"));
    }
    Ok(own)
}

/// Refuses names that cannot be environment variables where they are to be some.
fn once(options: &Options, variables: Option<&Variables>) -> Result<Once> {
    let names = variables.map(Variables::names).unwrap_or_default();
    let environment = options.pass == options::Pass::Environment;
    match names
        .iter()
        .find(|name| name.contains('\0') || environment && (name.is_empty() || name.contains('=')))
    {
        Some(name) => {
            Err(Error::option(format!("variables.{name}"), "cannot be the name of an environment variable"))
        }
        None => Ok(Once { pass: options.pass, infeasible_exit_code: options.infeasible_exit_code }),
    }
}

impl Benchmark for Command {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        match &mut self.way {
            Way::Once(once) => once.evaluate(&self.program, self.variables.at(point), seed),
            Way::Persistent { conversation, hello, instance, limit } => {
                let current = match conversation.take() {
                    Some(current) => current,
                    None => {
                        let (begun, again) = Conversation::begin(&self.program, *instance, *limit)
                            .map_err(|(error, _)| error)?;
                        if again != *hello {
                            return Err(Error::new(
                                "the program was started again, and says other things of itself than before",
                            ));
                        }
                        begun
                    }
                };
                let point = self.variables.at(point).map(|(name, level)| (name.to_owned(), level.clone()));
                let (answer, next) = current.evaluate(&point.collect(), seed);
                *conversation = next;
                answer
            }
        }
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn deterministic(&self) -> bool {
        self.deterministic
    }
}
