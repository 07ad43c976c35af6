//! What the command line changes in a manifest: `--set key.path=value`, `--surrogate` and `--solver name[key=value]`.

use serde_yaml::{Mapping, Value};

use super::PluginUse;
use super::keys::methods::{METHOD_KEYS, Method};
use super::names::text_of;
use super::yaml::{self, KeyPath};
use crate::diagnostic::{Diagnostic, Place};

/// Changes to a manifest's tree, and the arguments that asked for them.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Arguments of `--set`.
    pub set: Vec<String>,
    /// Arguments of `--surrogate`.
    pub surrogate: Vec<String>,
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
                // An option of a plugin may be null; any other key is left out then.
                Ok((path, Value::Null)) if !path.keys().iter().any(|key| key == "options") => {
                    yaml::remove(tree, &path);
                }
                Ok((path, value)) => {
                    make_room(tree, &path);
                    match yaml::set(tree, &path, value) {
                        Ok(()) => origins.push((path, label)),
                        Err(blocked) => mistakes.push(at(
                            label,
                            Diagnostic::new(format!("`{path}` cannot be set: `{blocked}` is a single value")),
                        )),
                    }
                }
                Err(diagnostic) => mistakes.push(at(label, diagnostic)),
            }
        }
        if !self.solver.is_empty() || !self.surrogate.is_empty() {
            self.replace_methods(tree, &mut origins, mistakes);
        }
        origins
    }

    /// One method for each surrogate and solver named; what is not named is that of the manifest's first method.
    fn replace_methods(&self, tree: &mut Value, origins: &mut Vec<Origin>, mistakes: &mut Vec<Diagnostic>) {
        let of_first = |key: &str| {
            let first = |methods: &Value| methods.as_mapping()?.values().next()?.get(key).cloned();
            tree.get("methods").map_or_else(|| tree.get(key).cloned(), first)
        };
        let surrogates = named("surrogate", &self.surrogate, of_first("surrogate"), mistakes);
        let solvers = named("solver", &self.solver, of_first("solver"), mistakes);
        // Those that cannot be read are mistakes already; without them there may be no method.
        if surrogates.is_empty() || solvers.is_empty() {
            return;
        }
        let mut methods = Mapping::new();
        for surrogate in &surrogates {
            for solver in &solvers {
                let names: Vec<&str> =
                    [surrogate, solver].iter().filter_map(|part| part.name.as_deref()).collect();
                let name = names.join("-");
                if methods.contains_key(name.as_str()) {
                    let label = [surrogate, solver].iter().rev().find_map(|part| part.label.clone());
                    let what = Diagnostic::new(format!("there is a method `{name}` already"));
                    let hint =
                        "each surrogate and solver once; under `methods` in a manifest, names are free";
                    mistakes.push(at(label.unwrap_or_default(), what.hint(hint)));
                    continue;
                }
                let path = KeyPath::root().join("methods").join(&name);
                let mut keys = Mapping::new();
                for (key, part) in [("surrogate", surrogate), ("solver", solver)] {
                    origins.extend(part.label.clone().map(|label| (path.join(key), label)));
                    if let Some(value) = &part.value {
                        keys.insert(Value::from(key), value.clone());
                    }
                }
                methods.insert(Value::from(name), Value::Mapping(keys));
            }
        }
        self.check_sweep(tree, &methods, mistakes);
        if let Value::Mapping(keys) = tree {
            for key in METHOD_KEYS {
                keys.shift_remove(key);
            }
            keys.insert(Value::from("methods"), Value::Mapping(methods));
        }
    }
}

impl Overrides {
    /// A sweep over what is replaced leads nowhere: it is told, and left out, so that it makes no other mistakes.
    fn check_sweep(&self, tree: &mut Value, methods: &Mapping, mistakes: &mut Vec<Diagnostic>) {
        let Some(Value::Mapping(axes)) = tree.get_mut("sweep") else { return };
        let label = self.solver.first().map(|solver| format!("--solver {solver}"));
        let label =
            label.or_else(|| self.surrogate.first().map(|surrogate| format!("--surrogate {surrogate}")));
        axes.retain(|key, _| {
            let key = text_of(key);
            let Some(path) = KeyPath::parse(&key) else { return true };
            let Some(method) = replaced(&path, methods) else { return true };
            let method = method
                .map_or_else(|| "the manifest's method".to_owned(), |name| format!("the method `{name}`"));
            let names: Vec<String> = methods.keys().map(text_of).map(|name| format!("`{name}`")).collect();
            let what =
                Diagnostic::new(format!("the sweep over `{key}` leads into {method}, which is replaced"))
                    .because(format!("the methods are now {}", names.join(", ")))
                    .hint("`--set sweep=null` leaves the sweep out");
            mistakes.push(at(label.clone().unwrap_or_default(), what));
            false
        });
        if axes.is_empty() {
            yaml::remove(tree, &KeyPath::root().join("sweep"));
        }
    }
}

/// Where a method is set beside the only one, whose keys stand at the top, that one moves under `methods`, by its own name.
fn make_room(tree: &mut Value, path: &KeyPath) {
    let beside = matches!(path.keys(), [first, _, ..] if first == "methods") && tree.get("methods").is_none();
    let Some(name) = tree.get("solver").filter(|_| beside).and_then(name_of_solvers) else { return };
    if let Value::Mapping(keys) = tree {
        let moved = METHOD_KEYS.iter().filter_map(|&key| Some((Value::from(key), keys.shift_remove(key)?)));
        let method = Value::Mapping(moved.collect());
        keys.insert(
            Value::from("methods"),
            Value::Mapping(Mapping::from_iter([(Value::from(name), method)])),
        );
    }
}

/// What a method with these solvers is called; `None` where a file has to be opened to know.
fn name_of_solvers(solvers: &Value) -> Option<String> {
    let solvers = solvers.as_sequence().map_or(std::slice::from_ref(solvers), Vec::as_slice);
    let names = solvers.iter().map(|solver| solver.get("use").unwrap_or(solver).as_str());
    let names: Vec<&str> = names.collect::<Option<_>>()?;
    names.iter().all(|name| !PluginUse::is_path(name)).then(|| Method::name_of(names.into_iter()))
}

/// The method that a path leads into, where it is none of these; `Some(None)` for the only one, whose keys stand at the top.
fn replaced<'p>(path: &'p KeyPath, methods: &Mapping) -> Option<Option<&'p str>> {
    match path.keys() {
        [first, name, ..] if first == "methods" && !methods.contains_key(name.as_str()) => Some(Some(name)),
        [first, ..] if METHOD_KEYS.contains(&first.as_str()) => Some(None),
        _ => None,
    }
}

/// A surrogate or solver of a method.
struct Part {
    /// Its part of the method's name, and the argument that named it; `None` where it is the manifest's.
    name: Option<String>,
    label: Option<String>,
    value: Option<Value>,
}

/// Those that the arguments name, or the manifest's.
fn named(
    kind: &str,
    arguments: &[String],
    manifest: Option<Value>,
    mistakes: &mut Vec<Diagnostic>,
) -> Vec<Part> {
    if arguments.is_empty() {
        return vec![Part { name: None, label: None, value: manifest }];
    }
    let mut parts = Vec::new();
    for argument in arguments {
        let label = format!("--{kind} {argument}");
        match parse_plugin(kind, argument) {
            Ok((name, value)) => {
                parts.push(Part { name: Some(name), label: Some(label), value: Some(value) })
            }
            Err(diagnostic) => mistakes.push(at(label, diagnostic)),
        }
    }
    parts
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
pub(crate) fn parse_plugin(kind: &str, argument: &str) -> Result<(String, Value), Diagnostic> {
    let wrong = || {
        Diagnostic::new(format!("not a {kind}"))
            .hint("such as `--solver psr` or `--solver 'psr[steps=10,polish=none]'`")
    };
    let (name, rest) = argument.split_once('[').map_or((argument, None), |(name, rest)| (name, Some(rest)));
    if name.is_empty() {
        return Err(wrong());
    }
    let Some(rest) = rest else { return Ok((method_name(argument), Value::from(name))) };
    let mut options = Mapping::new();
    let inner = rest.strip_suffix(']').ok_or_else(|| wrong().because("no `]` ends its options"))?;
    for entry in entries(inner).into_iter().filter(|entry| !entry.trim().is_empty()) {
        let no_value = || wrong().because(format!("`{}` has no value", entry.trim()));
        let (key, value) = entry.split_once('=').ok_or_else(no_value)?;
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
        let overrides = Overrides { set: words(set), solver: words(solver), ..Overrides::default() };
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
    fn surrogates_and_solvers_meet_each_other_and_what_is_not_named_is_the_manifests() {
        let manifest = "surrogate: horseshoe\nsolver: psr\nshadows: [sdp]";
        let applied = |surrogate: &[&str], solver: &[&str]| {
            let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
            let overrides =
                Overrides { surrogate: words(surrogate), solver: words(solver), ..Overrides::default() };
            let mut tree = serde_yaml::from_str(manifest).unwrap();
            let mut mistakes = Vec::new();
            let origins = overrides.apply(&mut tree, &mut mistakes);
            assert!(mistakes.is_empty());
            (tree, origins.len())
        };
        let expected = |yaml: &str| serde_yaml::from_str::<Value>(&format!("methods: {yaml}")).unwrap();
        let alone = "{ random: { surrogate: random, solver: psr } }";
        assert_eq!(applied(&["random"], &[]), (expected(alone), 1));
        let both = "{ random-tabu: { surrogate: random, solver: tabu }, random-sdp: { surrogate: random, solver: sdp }, \
            horseshoe-order-1-tabu: { surrogate: { use: horseshoe, options: { order: 1 } }, solver: tabu }, \
            horseshoe-order-1-sdp: { surrogate: { use: horseshoe, options: { order: 1 } }, solver: sdp } }";
        let (tree, origins) = applied(&["random", "horseshoe[order=1]"], &["tabu", "sdp"]);
        assert_eq!((tree, origins), (expected(both), 8));
    }

    #[test]
    fn a_method_is_set_beside_the_one_at_the_top() {
        let beside = |manifest: &str| {
            let (tree, mistakes) = applied(manifest, &["methods.b={solver: tabu}"], &[]);
            assert!(mistakes.is_empty());
            tree
        };
        let expected = |yaml: &str| serde_yaml::from_str::<Value>(yaml).unwrap();
        assert_eq!(
            beside("a: 1\nsurrogate: random\nsolver: { use: psr, options: { steps: 3 } }"),
            expected(
                "{ a: 1, methods: { psr: { surrogate: random, solver: { use: psr, options: { steps: 3 } } }, \
                 b: { solver: tabu } } }"
            )
        );
        assert_eq!(
            beside("surrogate: [heat, horseshoe]\nsolver: [ascent, psr]\nshadows: [sdp]"),
            expected(
                "methods: { ascent-psr: { surrogate: [heat, horseshoe], solver: [ascent, psr], shadows: [sdp] }, \
                 b: { solver: tabu } }"
            )
        );
        // What it is called is in the file; that it stands beside the others is told as a mistake.
        assert!(beside("solver: ./mine.so").get("solver").is_some());
        assert!(beside("methods: { a: {} }\nsolver: psr").get("solver").is_some());
    }

    #[test]
    fn an_option_of_a_solver_may_be_a_list() {
        let (_, solver) = parse_plugin("solver", "mine[weights=[1,2],steps=3]").unwrap();
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
    fn null_removes_a_key_and_is_a_value_among_options() {
        let manifest = "a: 1\nb: { c: 2, d: 3 }\nsolver: psr\nsweep: { a: [1] }";
        let (tree, mistakes) =
            applied(manifest, &["sweep=null", "b.c=null", "x.y=~", "solver.options.steps=null"], &[]);
        assert!(mistakes.is_empty());
        let expected = "{ a: 1, b: { d: 3 }, solver: { use: psr, options: { steps: null } } }";
        assert_eq!(tree, serde_yaml::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn a_sweep_over_what_is_replaced_is_a_mistake_of_the_argument() {
        let manifest = "methods: { psr: { solver: psr } }\nsweep: { methods.psr.solver.options.steps: [1], penalty.l1: [0] }";
        let (tree, mistakes) = applied(manifest, &[], &["sdp"]);
        assert_eq!(mistakes.len(), 1);
        assert_eq!(mistakes[0].place, Some(Place::Argument("--solver sdp".to_owned())));
        let sweep = tree.get("sweep").and_then(Value::as_mapping).unwrap();
        assert_eq!(sweep.keys().collect::<Vec<_>>(), ["penalty.l1"]);
        // A method that is still there may be swept.
        assert!(applied(manifest, &[], &["psr"]).1.is_empty());
        assert!(applied(manifest, &["sweep=null"], &["sdp"]).1.is_empty());
    }

    #[test]
    fn wrong_arguments_are_all_reported() {
        let (_, mistakes) = applied("a: 1", &["b", ".=1", "a.b=1", "c=[1"], &["", "psr[steps", "psr[steps]"]);
        assert_eq!(mistakes.len(), 7, "{mistakes:?}");
    }
}
