//! The arguments, and nothing else.

mod help;
mod plugins;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use self::help::{
    ASK_HELP, COMPLETIONS_HELP, EXAMPLES, EXPORT_HELP, MERGE_HELP, REPORT_HELP, SCHEMA_HELP, SOLVE_HELP,
    TELL_HELP,
};
pub use self::plugins::{CheckArguments, InstallArguments, NewArguments, NewKind, PluginsCommand};
use crate::diagnostic::LogFormat;
use crate::export::Format;
use crate::paint::Color;
use crate::plan::{QUADRATIC_SOLVER, Shard};
use crate::plugins::PluginArguments;
use crate::run::{Limits, PATIENCE};

/// Combinatorial Bayesian optimization from the command line.
///
/// A manifest says which objective, model and solvers meet; `host run` runs it and says which method found
/// what. Objectives, encoders, models and solvers are plugins: `host plugins list` shows what there is.
#[derive(Debug, Parser)]
#[command(name = "host", version = env!("HOST_VERSION"), max_term_width = 100, after_help = EXAMPLES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Say more of what happens: -v for decisions, -vv for details, -vvv for everything.
    #[arg(short, long, action = clap::ArgAction::Count, global = true, display_order = 900)]
    pub verbose: u8,
    /// Logs and progress as `text` for people, or as `json`, one object a line.
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        global = true,
        display_order = 901
    )]
    pub log_format: LogFormat,
    /// Colours: `auto` (on a terminal, unless NO_COLOR is set), `always` or `never`.
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        global = true,
        display_order = 902
    )]
    pub color: Color,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment: plan it, run its trials, show what each method found.
    ///
    /// Results go to `DIR/NAME/ID/`, and the last line on the standard output names that folder. Ctrl-C
    /// stops after the evaluations under way and loses nothing: the same command with `--resume` goes on.
    Run(RunArguments),
    /// Ask for the next points of an experiment that somebody else evaluates: people, a laboratory, another program.
    ///
    /// With a manifest, the run's folder is made, or found again; then the folder does. Each point is on disk before it is
    /// shown, and no point is asked for twice: `host status` lists those that are under way.
    #[command(after_help = ASK_HELP)]
    Ask(AskArguments),
    /// Tell what evaluations gave: values, points that are infeasible, evaluations that failed.
    ///
    /// Everything is checked before anything is recorded. Told again in the same words, a result is known already, so that a
    /// command that was interrupted can be given again.
    #[command(after_help = TELL_HELP)]
    Tell(TellArguments),
    /// Show how far the trials of a run are, and which points are under way.
    Status(StatusArguments),
    /// Take the trials of a run out of the queue of a cluster.
    ///
    /// Nothing that is recorded is lost: `host run --resume DIR` goes on, here or on the cluster.
    Cancel {
        /// The folder of a run: results/NAME/ID.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Check a manifest and list its trials, without running anything.
    Plan {
        /// What to plan.
        #[command(flatten)]
        manifest: ManifestArguments,
        /// As JSON, with all options of all plugins.
        #[arg(long)]
        json: bool,
        /// Be the process that asks the plugins.
        #[arg(long, hide = true)]
        attached: bool,
    },
    /// Unite run folders of the same plan in a new one: the parts that `host run --shard` has run, or any others.
    ///
    /// The folders are only read. Journals are checked line by line; a trial that several folders have counts once, where one
    /// journal has all that the others have, and is refused otherwise. What is missing is said: `host run --resume` runs it.
    #[command(after_help = MERGE_HELP)]
    Merge(MergeArguments),
    /// Make the report of a run, or of several beside each other: page, figures, tables.
    ///
    /// Only recorded files are read: a report can be made at any time, also of a run that is not finished.
    #[command(after_help = REPORT_HELP)]
    Report(ReportArguments),
    /// Say what of a run's folder is whole and what is not; without a folder, what this installation has. Nothing is changed.
    ///
    /// Of a run, every journal is read and its hashes followed. Of the installation: versions, where plugins are looked
    /// for, what is found and what is refused, cores, disk, and whether results can be written and locked. Exit
    /// codes: 0 all is whole, 1 something is not, 2 this is no run.
    Doctor(DoctorArguments),
    /// Write a run's evaluations and AFO answers for other tools: CSV, JSON lines or Parquet.
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArguments),
    /// Solve binary quadratic problems from files, with any solvers: value, bound, gap, time.
    #[command(after_help = SOLVE_HELP)]
    Solve(SolveArguments),
    /// See which plugins there are, and what they can do.
    #[command(subcommand)]
    Plugins(PluginsCommand),
    /// Print the JSON schema of manifests, with the options of the plugins found, for editors.
    #[command(after_help = SCHEMA_HELP)]
    Schema {
        /// Where plugins come from.
        #[command(flatten)]
        plugins: PluginArguments,
    },
    /// Print a script that completes commands and options in a shell.
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        #[arg(value_name = "SHELL", value_enum)]
        shell: Shell,
    },
    /// Run one trial of a run folder: what `host run` starts, and what a cluster's job array would.
    #[command(hide = true)]
    Trial(TrialArguments),
}

/// What to ask, and how many.
#[derive(Debug, Args)]
pub struct AskArguments {
    /// The folder of a run that was asked before, or a manifest. With a larger budget than it has (`--set
    /// budget.evaluations=50`), the run is extended.
    #[arg(value_name = "DIR|MANIFEST")]
    pub path: PathBuf,
    /// How many points.
    #[arg(short = 'n', long, value_name = "K", default_value = "1")]
    pub count: std::num::NonZeroUsize,
    /// `table`, `json` or `csv`, with an empty column `value` to be filled in.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = PointsFormat::Table, hide_possible_values = true)]
    pub format: PointsFormat,
    /// What the command line changes in the manifest.
    #[command(flatten)]
    pub changes: Changes,
    /// Where results go.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub output: PathBuf,
    /// The name of the run's folder.
    #[arg(long, value_name = "ID", default_value = "lab")]
    pub run_id: String,
    /// Go on although plugins or the objective's program have changed since: what was asked and told counts as it stands.
    #[arg(long)]
    pub allow_changed_plugins: bool,
}

/// How points are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PointsFormat {
    #[default]
    Table,
    Json,
    Csv,
}

/// What to tell.
#[derive(Debug, Args)]
pub struct TellArguments {
    /// The folder of a run, as `host ask` names it.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Results: `4=0.71`, `5=infeasible`, `6='failed: spilt'`; CSV files; or - for CSV or JSON from the standard input.
    #[arg(value_name = "RESULT")]
    pub results: Vec<String>,
    /// A point, whether it was asked for or not: `solvent=water,dose=1`.
    #[arg(long, value_name = "POINT")]
    pub point: Option<String>,
    /// The value of --point.
    #[arg(long, value_name = "VALUE", requires = "point", allow_negative_numbers = true, value_parser = finite)]
    pub value: Option<f64>,
    /// Why --point is not allowed.
    #[arg(long, value_name = "REASON", requires = "point", conflicts_with = "value")]
    pub infeasible: Option<String>,
    /// Why there is no value of --point.
    #[arg(long, value_name = "REASON", requires = "point", conflicts_with_all = ["value", "infeasible"])]
    pub failed: Option<String>,
    /// Where plugins come from.
    #[command(flatten)]
    pub plugins: PluginArguments,
    /// Go on although plugins or the objective's program have changed since: what was asked and told counts as it stands.
    #[arg(long)]
    pub allow_changed_plugins: bool,
}

fn finite(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or("not a finite number")
}

/// What to show.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// The folder of a run: results/NAME/ID.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to look at.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// The folder of a run, as `host run` names it: results/NAME/ID [default: look at the installation].
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Where results would go.
    #[arg(long, value_name = "DIR", default_value = "results", conflicts_with = "folder")]
    pub output: PathBuf,
    /// Where plugins come from.
    #[command(flatten)]
    pub plugins: PluginArguments,
}

/// Shells with completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Which trial to run, and how.
#[derive(Debug, Args)]
pub struct TrialArguments {
    /// The run's folder.
    pub folder: PathBuf,
    /// The trial's name.
    #[arg(required_unless_present = "tasks")]
    pub id: Option<String>,
    /// The list of tasks that a run was submitted with, a line each: run the trials of one, one after the other.
    #[arg(long, value_name = "FILE", conflicts_with = "id", requires = "task")]
    pub tasks: Option<PathBuf>,
    /// Which task of the list, from 0.
    #[arg(long, value_name = "N", requires = "tasks")]
    pub task: Option<usize>,
    /// A folder of this machine for saved states; a `$NAME` at its beginning is a variable of the environment.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Where plugins come from.
    #[command(flatten)]
    pub plugins: PluginArguments,
    /// Be the process of the trial, for the host that watches over it.
    #[arg(long)]
    pub attached: bool,
    /// Evaluate points for the trial instead of running it.
    #[arg(long, requires = "attached")]
    pub worker: bool,
    /// How many guards are above this process already, as often as it is given.
    #[arg(long, requires = "attached", action = clap::ArgAction::Count)]
    pub guarded: u8,
    /// Go on from what is recorded although plugins or the objective's program have changed since.
    #[arg(long)]
    pub allow_changed_plugins: bool,
    /// What ends the trial's process.
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// When a trial's process is ended and started again.
#[derive(Debug, Args)]
pub struct LimitArguments {
    /// Restart a trial whose process has said nothing for this many seconds. A long evaluation is not silence: the process
    /// says that it is there.
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(PATIENCE))]
    pub patience: Seconds,
    /// Restart a trial whose surrogate or solver takes longer than this over one step; the third time at the same
    /// place it has failed [default: no limit].
    #[arg(long, value_name = "SECONDS")]
    pub step_timeout: Option<Seconds>,
}

impl LimitArguments {
    /// The same, for who watches over trials.
    pub fn limits(&self) -> Limits {
        Limits { patience: self.patience.0, step_timeout: self.step_timeout.map(|limit| limit.0) }
    }
}

/// A manifest.
#[derive(Debug, Args)]
pub struct ManifestArguments {
    /// The manifest, or - for the standard input.
    #[arg(value_name = "MANIFEST")]
    pub path: PathBuf,
    /// What the command line changes in it.
    #[command(flatten)]
    pub changes: Changes,
}

/// What the command line changes in a manifest, and where plugins come from.
#[derive(Debug, Args)]
pub struct Changes {
    /// Set a key of the manifest: `penalty.l1=0.01`, `benchmark.options.rows=3`. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Use this surrogate instead of the manifest's methods: `random` or `horseshoe[order=1]`. Repeated, one method
    /// each; with --solver, one for each pair.
    #[arg(long, value_name = "SURROGATE")]
    pub surrogate: Vec<String>,
    /// Use this solver instead of the manifest's methods: `sdp` or `psr[steps=10,step=authors]`. Repeated, one
    /// method each.
    #[arg(long, value_name = "SOLVER")]
    pub solver: Vec<String>,
    /// Where plugins come from.
    #[command(flatten)]
    pub plugins: PluginArguments,
}

impl Changes {
    /// Nothing but where plugins come from.
    pub fn none(plugins: &PluginArguments) -> Self {
        let (set, surrogate, solver) = (Vec::new(), Vec::new(), Vec::new());
        Self { set, surrogate, solver, plugins: plugins.clone() }
    }

    /// Whether the manifest is changed.
    pub fn any(&self) -> bool {
        [&self.set, &self.surrogate, &self.solver].iter().any(|list| !list.is_empty())
    }
}

/// How to run an experiment.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The manifest, or - for the standard input.
    #[arg(value_name = "MANIFEST", required_unless_present = "resume")]
    pub path: Option<PathBuf>,
    /// What the command line changes in it.
    #[command(flatten)]
    pub changes: Changes,
    /// Where results go.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub output: PathBuf,
    /// The name of this run's folder [default: the time].
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Go on with a run: this folder, or, with a manifest, that of --run-id or the latest. With more evaluations, seeds or
    /// methods than it has (`--set budget.evaluations=200`), what is new is run.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1)]
    pub resume: Option<Option<PathBuf>>,
    /// Run one part of the trials alone: `3/16` is the third of sixteen, each of which may run anywhere. `host merge` unites
    /// their folders.
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Go on with a run although its plugins or the objective's program have changed since: what is recorded counts as it
    /// stands.
    #[arg(long, requires = "resume")]
    pub allow_changed_plugins: bool,
    /// Stop all trials when one has failed.
    #[arg(long)]
    pub fail_fast: bool,
    /// What ends a trial's process.
    #[command(flatten)]
    pub limits: LimitArguments,
    /// How many trials at a time [default: one for each core].
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Who runs trials: `local` (processes of this machine), `slurm` (job arrays) or `none` (the folder is made, and others run
    /// `host trial DIR NAME`). host/CLUSTERS.md says how.
    #[arg(long, value_name = "EXECUTOR", value_enum, default_value_t, hide_possible_values = true)]
    pub executor: ExecutorKind,
    /// A file with settings for --executor slurm: partition, account, time, memory [default: `cluster` of the manifest].
    #[arg(long, value_name = "FILE")]
    pub cluster: Option<PathBuf>,
    /// Submit, and do not wait; `host status` shows how far it is.
    #[arg(long)]
    pub detach: bool,
    /// Run trials in this process, one after the other, for debugging.
    #[arg(long, conflicts_with = "jobs")]
    pub in_process: bool,
    /// No progress, only the results.
    #[arg(long, short)]
    pub quiet: bool,
    /// Be the process that asks the plugins first, and run nothing.
    #[arg(long, hide = true)]
    pub attached: bool,
}

/// Who runs trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ExecutorKind {
    #[default]
    Local,
    Slurm,
    None,
}

/// What to unite, and where to.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Folders of runs of the same plan, as `host run` names them: results/NAME/ID.
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// The new run's folder.
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,
    /// Unite them although their plugins, programs or hosts differ: what is recorded counts as it stands.
    #[arg(long)]
    pub allow_changed_plugins: bool,
    /// No progress, only the results.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What to report, and where to.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folders of runs, as `host run` names them: results/NAME/ID.
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// Where the report goes: a folder, or FILE.html for the page alone [default: the run's folder; for several runs,
    /// `comparison` where their paths part].
    #[arg(long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// What to export, and where to.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// The folder of a run, as `host run` names it: results/NAME/ID.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// `csv`, `json` (one object a line) or `parquet`.
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub format: Format,
    /// Where the files go [default: the run's folder].
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// What to solve, and how.
#[derive(Debug, Args)]
pub struct SolveArguments {
    /// Files with a problem each, or - for JSON from the standard input.
    #[arg(value_name = "PROBLEM", required = true)]
    pub problems: Vec<PathBuf>,
    /// Solve with this: `sdp` or `psr[steps=10,step=authors]`. May be repeated.
    #[arg(long, value_name = "SOLVER", default_value = QUADRATIC_SOLVER)]
    pub solver: Vec<String>,
    /// The seed of every solver.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// As JSON, one line for each file and solver, each printed once it is solved.
    #[arg(long)]
    pub json: bool,
    /// Ask each solver to stop after this many seconds; the answer then depends on the machine.
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<Seconds>,
    /// Ask each solver to stop after this many of its own steps: cuts, sweeps, points.
    #[arg(long, value_name = "N")]
    pub work_limit: Option<u64>,
    /// Be the process of the solvers, for what is left after this many pairs of file and solver.
    #[arg(long, value_name = "N", hide = true)]
    pub attached: Option<usize>,
    /// Where plugins come from.
    #[command(flatten)]
    pub plugins: PluginArguments,
}

/// A time, as a number of seconds.
#[derive(Clone, Copy, Debug)]
pub struct Seconds(pub Duration);

impl FromStr for Seconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.map(Self).ok_or("not a number of seconds")
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_secs_f64().fmt(f)
    }
}
