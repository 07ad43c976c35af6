//! The arguments of `host plugins`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use plugin_api::Kind;

use super::Seconds;
use super::help::{CHECK_HELP, INSTALL_HELP, NEW_HELP};
use crate::plugins::PluginArguments;
use crate::skeleton::Language;

/// What to see of plugins.
#[derive(Debug, Subcommand)]
pub enum PluginsCommand {
    /// List the plugins found, by kind.
    List {
        /// Where plugins come from.
        #[command(flatten)]
        plugins: PluginArguments,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what a plugin does, its options, their limits and defaults.
    Describe {
        /// The plugin's name.
        name: String,
        /// Where plugins come from.
        #[command(flatten)]
        plugins: PluginArguments,
        /// As JSON, with the schema of the options.
        #[arg(long)]
        json: bool,
    },
    /// Copy built plugins to your own folder of plugins, where this program finds them wherever it is started.
    ///
    /// Each is loaded first: where one is no plugin for this program, nothing is copied. The folder is `host/plugins` in the
    /// user's data folder, ~/.local/share where XDG_DATA_HOME names no other.
    /// Exit codes: 0 done, 2 the request was wrong.
    #[command(after_help = INSTALL_HELP)]
    Install(InstallArguments),
    /// Make the folder of a plugin of your own: source, test, an experiment with it, a schema for editors.
    ///
    /// It works as it stands, anywhere on this machine, and explains itself: an objective that packs items, an encoder, a
    /// model or a solver, to put your own in its place.
    #[command(after_help = NEW_HELP)]
    New(NewArguments),
    /// Check a built plugin against the contract of its kind: a verdict on each promise, with the reason.
    ///
    /// Options (defaults, unknown names, limits), determinism, sizes, bounds beside exhaustive search, groups and constraints,
    /// panics, crashes, output. The rules are those of `plugin_api::testing`. The plugin runs in a process of its own.
    /// Exit codes: 0 every promise is kept, 1 one is not, 2 there is no such plugin.
    #[command(after_help = CHECK_HELP)]
    Check(CheckArguments),
}

/// What to install.
#[derive(Debug, Args)]
pub struct InstallArguments {
    /// Plugins' files, or folders with plugins.
    #[arg(value_name = "FILE|DIR", required = true)]
    pub paths: Vec<PathBuf>,
    /// Take plugins even where other users of this machine could have changed them.
    #[arg(long = "allow-insecure-plugins")]
    pub allow_insecure: bool,
}

/// The plugin to be.
#[derive(Debug, Args)]
pub struct NewArguments {
    /// `benchmark` (an objective), `encoder`, `surrogate` or `solver`.
    #[arg(value_name = "KIND", value_enum, hide_possible_values = true)]
    pub kind: NewKind,
    /// Its name in manifests: small letters, digits and -.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Where the new folder KIND-NAME goes [default: the current folder].
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// `rust` for all kinds, `c` for objectives and solvers, `python` for objectives.
    #[arg(
        long,
        value_name = "LANGUAGE",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub lang: Language,
    /// The folder `plugin-api` of a checkout, for Rust [default: what this program was built from].
    #[arg(long, value_name = "DIR")]
    pub api: Option<PathBuf>,
    /// Where plugins come from.
    #[command(flatten)]
    pub plugins: PluginArguments,
}

/// The kinds of plugins, as words of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum NewKind {
    Benchmark,
    Encoder,
    Surrogate,
    Solver,
}

impl From<NewKind> for Kind {
    fn from(kind: NewKind) -> Self {
        match kind {
            NewKind::Benchmark => Self::Benchmark,
            NewKind::Encoder => Self::Encoder,
            NewKind::Surrogate => Self::Surrogate,
            NewKind::Solver => Self::Solver,
        }
    }
}

/// What to check, and how.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// A plugin's file, or its name; with options in brackets where it needs some.
    #[arg(value_name = "FILE|NAME")]
    pub plugin: String,
    /// Where plugins come from.
    #[command(flatten)]
    pub plugins: PluginArguments,
    /// As JSON, one line for each plugin.
    #[arg(long)]
    pub json: bool,
    /// How many seconds a single call may take.
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(Duration::from_secs(60)))]
    pub time_limit: Seconds,
    /// Be the process that loads the plugin.
    #[arg(long, hide = true, requires = "child")]
    pub kind: Option<String>,
    /// Its options, as JSON.
    #[arg(long, hide = true, requires = "child")]
    pub options: Option<String>,
    /// What its lines begin with.
    #[arg(long, hide = true, requires_all = ["kind", "options"])]
    pub child: Option<String>,
}
