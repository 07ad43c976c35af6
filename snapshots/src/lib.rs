//! Where snapshots go, and what is hidden in them.
//!
//! The outputs that people accepted stand in the folders of this crate, so that `cargo insta review` finds
//! them in one place; the tests that write them stand beside the code that they test.

use std::path::Path;

use insta::Settings;
use insta::internals::SettingsBindDropGuard;

/// Lets the snapshots of this test go to `folder`, until the answer is dropped.
///
/// Hidden is what differs between machines or changes with every default: times, file names, folders, hashes.
pub fn in_folder(folder: &str) -> SettingsBindDropGuard {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the workspace");
    settings.add_filter(&literal(&workspace.display().to_string()), "[workspace]");
    for (pattern, replacement) in HIDDEN {
        settings.add_filter(pattern, *replacement);
    }
    settings.bind_to_scope()
}

/// A pattern that matches `text` and nothing else.
fn literal(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() { c.to_string() } else { format!("\\{c}") }).collect()
}

/// What is hidden, and what stands in its place.
const HIDDEN: &[(&str, &str)] = &[
    (r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z", "[time]"),
    (r"\b(lib)?(benchmark|encoder|surrogate|solver)_(\w+)\.(so|dylib|dll)\b", "[$2 $3]"),
    (r"\bhost\.exe\b", "host"),
    (r"searched: .*", "searched: [folders]"),
    (r"these keep all rules here: .*", "these keep all rules here: [solvers]"),
    (r#""plan":"[0-9a-f]{64}""#, r#""plan":"[hash]""#),
    (r#""chain":"[0-9a-f]{16}""#, r#""chain":"[hash]""#),
];
