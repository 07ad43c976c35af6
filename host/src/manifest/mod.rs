//! A manifest as a user writes it: what each key may hold, and nothing decided yet.
//!
//! [`Manifest`] is what was written; [`keys`] has one file for each key. It knows nothing of plugins but their kinds.

pub mod keys;
mod mistake;
mod names;
pub mod overrides;
mod places;
mod plugin_use;
mod reader;
mod source;
pub mod yaml;

pub use self::keys::{Manifest, Settings, schema};
pub use self::mistake::{ManifestError, Mistake};
pub use self::names::is_name;
pub use self::places::Places;
pub use self::plugin_use::{PluginUse, read_plugin};
pub use self::source::Source;
