//! The boundary between the host and a plugin's dylib: the only place with stable-ABI types and `unsafe`.
//!
//! A plugin is an ordinary `impl` of one of the four traits. The export macro puts a [`module`] into its
//! dylib: a table with the plugin's name, its options and a function that makes one. [`load`] opens the
//! file, checks that both sides mean the same by every type that crosses, and gives the host an ordinary
//! `impl` of the same trait again. In between, [`kinds`] has a boundary trait for each kind. A plugin in C has another
//! table, told apart by its symbol: [`c`] puts it behind the same traits.
//!
//! Four rules keep a plugin of api 1.x loadable by every host of 1.x:
//!
//! - What is set up once (options, space, layout, properties) crosses as JSON, where keys can be added; so do
//!   constraints, which most problems have none of. Names that a side does not know are no error where the other may
//!   be newer: a solver's list of what it takes and keeps is a list of names.
//! - What crosses in every iteration crosses as numbers and slices, or is [`shared`] by a reference count. No enum
//!   crosses, and no struct that may grow: the caller hands over an object, and the other side reads it through
//!   accessors (a problem, a request) or writes to it (an answer, an evaluation, a draw, predictions, effects).
//! - Fields and methods are only ever added at the end, after `last_prefix_field`, methods with a default body.
//! - No panic crosses: [`guard`] turns it into an error with file, line and words, also in a destructor.
//!
//! [`shared`] has the types whose fields cross as they are, coefficients and rows of bits: these are frozen.

pub(crate) mod c;
pub(crate) mod guard;
#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    non_camel_case_types,
    non_local_definitions,
    reason = "the expansion of sabi_trait; the code written here has none of it"
)]
pub(crate) mod kinds;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod module;
#[expect(unreachable_pub, reason = "the traits that sabi_trait writes are public, and so is what they name")]
pub(crate) mod shared;
