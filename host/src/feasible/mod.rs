//! Which points keep all rules: whether there is one, which rules contradict each other, and points drawn from all that do.
//!
//! [`Choices`] is a space or a layout as this room sees it: a level for each variable, and sums that stay within bounds.
//! [`search()`] is complete; it proves that there is no point, within a limit on its work. [`contradiction`] names rules
//! that no point keeps together, and would keep without any one of them. [`Sampler`] draws points, and says whether they
//! are uniform.

mod choices;
mod contradiction;
mod counted;
mod domains;
mod sampler;
mod search;
mod walk;

pub use self::choices::{Choices, bits_of};
pub use self::contradiction::contradiction;
pub use self::sampler::Sampler;
pub use self::search::{Found, search, shuffle};

/// How much a search may do where a person waits: a second or two.
pub const WORK: u64 = 100_000_000;
