//! The arguments, and nothing else.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Combinatorial Bayesian optimization from the command line.
///
/// A manifest says which objective, model and solvers meet; `host run` runs it and says which method found
/// what. Objectives, encoders, models and solvers are plugins: `host plugins list` shows what there is.
#[derive(Debug, Parser)]
#[command(name = "host", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Say more of what happens: -v for decisions, -vv for details, -vvv for everything.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

const EXAMPLES: &str = "\
Examples:
  host run experiments/ising.yaml                      run it, and see which method found what
  host run experiments/ising.yaml --solver annealing   the same with another solver
  host run experiments/ising.yaml --set penalty.l1=0.01
  host plan experiments/ising.yaml                     every check, and the trials; nothing is run
  host plugins describe psr                            what a plugin does, its options and defaults

Exit codes: 0 done, 1 a trial failed, 2 the request was wrong.";

const SCHEMA_HELP: &str = "\
For an editor with a YAML language server:
  host schema > experiments/manifest.schema.json
and as the first line of a manifest:
  # yaml-language-server: $schema=manifest.schema.json";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment: plan it, run its trials, show what each method found.
    ///
    /// Results go to `DIR/NAME/ID/`, and the last line on the standard output names that folder. Ctrl-C
    /// stops after the evaluations under way and loses nothing: the same command with `--resume` goes on.
    Run(RunArguments),
    /// Check a manifest and list its trials, without running anything.
    Plan {
        /// What to plan.
        #[command(flatten)]
        manifest: ManifestArguments,
        /// As JSON, every default filled.
        #[arg(long)]
        json: bool,
    },
    /// See which plugins there are, and what they can do.
    #[command(subcommand)]
    Plugins(PluginsCommand),
    /// Print the JSON schema of manifests, with the options of the plugins found, for editors.
    #[command(after_help = SCHEMA_HELP)]
    Schema {
        /// Another folder with plugins, searched first. May be repeated.
        #[arg(long = "plugin-dir", value_name = "DIR")]
        plugin_directories: Vec<PathBuf>,
    },
    /// Run one trial of a run folder: what `host run` starts, and what a cluster's job array would.
    #[command(hide = true)]
    Trial {
        /// The run's folder.
        folder: PathBuf,
        /// The trial's name.
        id: String,
        /// Another folder with plugins, searched first. May be repeated.
        #[arg(long = "plugin-dir", value_name = "DIR")]
        plugin_directories: Vec<PathBuf>,
        /// Stop when the standard input ends: whoever started this is gone, or wants it to end.
        #[arg(long)]
        attached: bool,
    },
}

/// A manifest, and what the command line changes in it.
#[derive(Debug, Args)]
pub struct ManifestArguments {
    /// The manifest, or - for the standard input.
    #[arg(value_name = "MANIFEST")]
    pub path: PathBuf,
    /// Set a key of the manifest: `penalty.l1=0.01`, `benchmark.options.rows=3`. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Use this solver instead of the manifest's methods: `sdp` or `psr[steps=10,step=authors]`. Repeated, one
    /// method each.
    #[arg(long, value_name = "SOLVER")]
    pub solver: Vec<String>,
    /// Another folder with plugins, searched first. May be repeated.
    #[arg(long = "plugin-dir", value_name = "DIR")]
    pub plugin_directories: Vec<PathBuf>,
}

/// How to run an experiment.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// What to run.
    #[command(flatten)]
    pub manifest: ManifestArguments,
    /// Where results go.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub output: PathBuf,
    /// The name of this run's folder [default: the time].
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Go on with a run that was stopped: that of --run-id, or the latest.
    #[arg(long)]
    pub resume: bool,
    /// How many trials at a time [default: one for each core].
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Run trials in this process, one after the other, for debugging.
    #[arg(long, conflicts_with = "jobs")]
    pub in_process: bool,
    /// No progress, only the results.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What to see of plugins.
#[derive(Debug, Subcommand)]
pub enum PluginsCommand {
    /// List the plugins found, by kind.
    List {
        /// Another folder with plugins, searched first. May be repeated.
        #[arg(long = "plugin-dir", value_name = "DIR")]
        plugin_directories: Vec<PathBuf>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what a plugin does, its options, their limits and defaults.
    Describe {
        /// The plugin's name.
        name: String,
        /// Another folder with plugins, searched first. May be repeated.
        #[arg(long = "plugin-dir", value_name = "DIR")]
        plugin_directories: Vec<PathBuf>,
        /// As JSON, with the schema of the options.
        #[arg(long)]
        json: bool,
    },
}
