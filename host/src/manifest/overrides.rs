//! What the command line changes in a manifest: `--set key.path=value` and `--solver name[key=value]`.

use serde_yaml::{Mapping, Value};

use super::yaml::{self, KeyPath};
use crate::diagnostic::{Diagnostic, Place};

/// Changes to a manifest's tree, and the arguments that asked for them.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Arguments of `--set`.
    pub set: Vec<String>,
    /// Arguments of `--solver`.
    pub solver: Vec<String>,
}

/// A key path that an argument has set; mistakes at or below it are the argument's.
pub type Origin = (KeyPath, String);

impl Overrides {
    /// Changes the tree.
    pub fn apply(&self, tree: &mut Value, mistakes: &mut Vec<Diagnostic>) -> Vec<Origin> {
        let mut origins = Vec::new();
        for argument in &self.set {
            let label = format!("--set {argument}");
            match parse_setting(argument) {
                Ok((path, value)) => match yaml::set(tree, &path, value) {
                    Ok(()) => origins.push((path, label)),
                    Err(blocked) => mistakes.push(at(
                        label,
                        Diagnostic::new(format!("`{path}` cannot be set: `{blocked}` is a single value")),
                    )),
                },
                Err(diagnostic) => mistakes.push(at(label, diagnostic)),
            }
        }
        if !self.solver.is_empty() {
            self.replace_methods(tree, &mut origins, mistakes);
        }
        origins
    }

    /// One method for each solver named, with the surrogate of the manifest's first method.
    fn replace_methods(&self, tree: &mut Value, origins: &mut Vec<Origin>, mistakes: &mut Vec<Diagnostic>) {
        let first = |methods: &Value| methods.as_mapping()?.values().next()?.get("surrogate").cloned();
        let surrogate = tree.get("methods").and_then(first).or_else(|| tree.get("surrogate").cloned());
        let mut methods = Mapping::new();
        for argument in &self.solver {
            let label = format!("--solver {argument}");
            match parse_solver(argument) {
                Ok((name, solver)) => {
                    let path = KeyPath::root().join("methods").join(&name).join("solver");
                    origins.push((path, label));
                    let keys = [("surrogate", surrogate.clone()), ("solver", Some(solver))];
                    let keys = keys.into_iter().filter_map(|(key, value)| Some((Value::from(key), value?)));
                    methods.insert(Value::from(name), Value::Mapping(keys.collect()));
                }
                Err(diagnostic) => mistakes.push(at(label, diagnostic)),
            }
        }
        if let Value::Mapping(keys) = tree {
            for key in super::keys::methods::METHOD_KEYS {
                keys.shift_remove(key);
            }
            keys.insert(Value::from("methods"), Value::Mapping(methods));
        }
    }
}

fn at(label: String, mut diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.place = Some(Place::Argument(label));
    diagnostic
}

/// `key.path=value`; the value is YAML.
fn parse_setting(argument: &str) -> Result<(KeyPath, Value), Diagnostic> {
    let wrong = || Diagnostic::new("not `key.path=value`").hint("such as `--set penalty.l1=0.01`");
    let (path, value) = argument.split_once('=').ok_or_else(wrong)?;
    Ok((KeyPath::parse(path.trim()).ok_or_else(wrong)?, parse_value(value)?))
}

/// `name` or `name[key=value,key=value]`: the method's name, and the plugin as a manifest has it.
pub(crate) fn parse_solver(argument: &str) -> Result<(String, Value), Diagnostic> {
    let wrong = || {
        Diagnostic::new("not a solver")
            .hint("such as `--solver psr` or `--solver 'psr[steps=10,polish=none]'`")
    };
    let (name, rest) = argument.split_once('[').map_or((argument, None), |(name, rest)| (name, Some(rest)));
    if name.is_empty() {
        return Err(wrong());
    }
    let Some(rest) = rest else { return Ok((method_name(argument), Value::from(name))) };
    let mut options = Mapping::new();
    let inner = rest.strip_suffix(']').ok_or_else(wrong)?;
    for entry in entries(inner).into_iter().filter(|entry| !entry.trim().is_empty()) {
        let (key, value) = entry.split_once('=').ok_or_else(wrong)?;
        options.insert(Value::from(key.trim()), parse_value(value)?);
    }
    let keys = [(Value::from("use"), Value::from(name)), (Value::from("options"), Value::Mapping(options))];
    Ok((method_name(argument), Value::Mapping(Mapping::from_iter(keys))))
}

/// The parts between commas, except those within brackets of their own: `a=1,b=[2,3]` has two.
fn entries(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (i, c) in text.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The argument as a name: `psr[steps=10]` → `psr-steps-10`.
fn method_name(argument: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c } else { '-' };
    let words: String = argument.rsplit('/').next().unwrap_or_default().chars().map(letter).collect();
    words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn parse_value(text: &str) -> Result<Value, Diagnostic> {
    serde_yaml::from_str(text.trim())
        .map_err(|error| Diagnostic::new(format!("`{text}` is not a YAML value")).because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(manifest: &str, set: &[&str], solver: &[&str]) -> (Value, Vec<Diagnostic>) {
        let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
        let overrides = Overrides { set: words(set), solver: words(solver) };
        let mut tree = serde_yaml::from_str(manifest).unwrap();
        let mut mistakes = Vec::new();
        overrides.apply(&mut tree, &mut mistakes);
        (tree, mistakes)
    }

    #[test]
    fn a_solver_replaces_the_methods_and_keeps_the_surrogate() {
        let manifest =
            "methods: { a: { surrogate: horseshoe, solver: psr }, b: { surrogate: random, solver: sdp } }";
        let (tree, mistakes) = applied(manifest, &[], &["annealing", "psr[steps=10, step=authors]"]);
        let expected = "methods: { annealing: { surrogate: horseshoe, solver: annealing }, \
             psr-steps-10-step-authors: { surrogate: horseshoe, solver: { use: psr, options: { steps: 10, step: authors } } } }";
        assert!(mistakes.is_empty());
        assert_eq!(tree, serde_yaml::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn an_option_of_a_solver_may_be_a_list() {
        let (_, solver) = parse_solver("mine[weights=[1,2],steps=3]").unwrap();
        let expected = "{ use: mine, options: { weights: [1, 2], steps: 3 } }";
        assert_eq!(solver, serde_yaml::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn a_value_is_yaml() {
        let (tree, mistakes) = applied("a: 1", &["b.c=[1, x]", "a=true"], &[]);
        assert!(mistakes.is_empty());
        assert_eq!(tree, serde_yaml::from_str::<Value>("{ a: true, b: { c: [1, x] } }").unwrap());
    }

    #[test]
    fn wrong_arguments_are_all_reported() {
        let (_, mistakes) = applied("a: 1", &["b", ".=1", "a.b=1", "c=[1"], &["", "psr[steps", "psr[steps]"]);
        assert_eq!(mistakes.len(), 7, "{mistakes:?}");
    }
}
