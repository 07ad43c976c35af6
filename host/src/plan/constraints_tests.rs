use plugin_api::Point;

use super::*;
use crate::diagnostic::Diagnostic;
use crate::manifest::Manifest;

fn space() -> Space {
    Space::new(vec![
        Variable::binary("s1"),
        Variable::binary("s2"),
        Variable::binary("s3"),
        Variable::categorical("optimizer", ["sgd", "adam", "lion"]),
        Variable::ordered("layers", ["1", "2", "3", "4"]),
    ])
    .unwrap()
}

fn written(rules: &str) -> Constraints {
    let text = format!(
        "name: x\nbudget: {{ initial: 1, evaluations: 1 }}\nbenchmark: labs\nconstraints:\n{}",
        rules.lines().map(|rule| format!("  - {rule}\n")).collect::<String>()
    );
    let mut mistakes = Vec::new();
    let manifest = Manifest::read(&serde_yaml::from_str(&text).unwrap(), &mut mistakes).unwrap();
    assert!(mistakes.is_empty(), "{mistakes:?}");
    manifest.settings.constraints
}

fn all_points() -> impl Iterator<Item = Point> {
    (0..2 * 2 * 2 * 3 * 4u32).map(|i| Point::from(vec![i % 2, i / 2 % 2, i / 4 % 2, i / 8 % 3, i / 24]))
}

/// A rule admits the points where `holds` is true, of s1, s2, s3, the optimizer's name and the number of layers.
fn means(rule: &str, holds: impl Fn([bool; 3], &str, u32) -> bool) {
    let constrained = constrained(&space(), &written(rule)).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let mut admitted = 0;
    for point in all_points() {
        let optimizer = ["sgd", "adam", "lion"][point[3] as usize];
        let expected = holds([point[0] == 1, point[1] == 1, point[2] == 1], optimizer, point[4] + 1);
        assert_eq!(constrained.admits(&point), expected, "{rule} at {}", constrained.describe(&point));
        admitted += usize::from(expected);
    }
    assert!((1..96).contains(&admitted), "{rule} says nothing");
}

#[test]
fn rules_mean_what_they_say() {
    let count = |sensors: [bool; 3]| sensors.iter().filter(|&&chosen| chosen).count();
    means("{ exactly: 2, of: [s1, s2, s3] }", |s, _, _| count(s) == 2);
    means("{ at-most: 1, of: [s1, s2, s3] }", |s, _, _| count(s) <= 1);
    means("{ at-least: 2, of: [s1, s2, s3] }", |s, _, _| count(s) >= 2);
    means("{ exactly: 1, of: [s1, { s2: 0 }] }", |s, _, _| s[0] == s[1]);
    let both = |optimizer: &str, layers: u32| usize::from(optimizer == "adam") + usize::from(layers >= 3);
    means("{ at-least: 1, of: [{ optimizer: adam }, { layers: [3, 4] }] }", |_, o, l| both(o, l) >= 1);
    means("{ at-least: 2, of: [{ optimizer: adam, layers: [3, 4] }] }", |_, o, l| both(o, l) == 2);
    means("{ at-most: 1, of: [{ optimizer: adam }, { layers: [3, 4] }] }", |_, o, l| both(o, l) <= 1);
    means("{ fixed: { optimizer: adam } }", |_, o, _| o == "adam");
    means("{ fixed: { optimizer: adam, layers: [2, 3] } }", |_, o, l| o == "adam" && (2..=3).contains(&l));
    means("{ forbid: { optimizer: lion, layers: 3 } }", |_, o, l| !(o == "lion" && l == 3));
    means("{ forbid: { optimizer: [lion, sgd], layers: [3, 4] } }", |_, o, l| o == "adam" || l < 3);
    means("{ implies: [{ s1: 1 }, { layers: [2, 3] }] }", |s, _, l| !s[0] || (2..=3).contains(&l));
    means("{ implies: [{ optimizer: [adam, lion], s1: 1 }, { s2: 0, layers: 1 }] }", |s, o, l| {
        o == "sgd" || !s[0] || (!s[1] && l == 1)
    });
    // Implied of the same variable: the condition cannot hold where it demands another level.
    means("{ implies: [{ layers: [1, 2] }, { layers: 2 }] }", |_, _, l| l != 1);
}

#[test]
fn weights_may_be_of_levels_and_of_any_sign() {
    let weigh = |s: [bool; 3]| 12.5 * f64::from(s[0]) + 40.0 * f64::from(s[1]) + 80.0 * f64::from(s[2]);
    means("{ at-most: 100, weights: { s1: 12.5, s2: 40, s3: 80 } }", |s, _, _| weigh(s) <= 100.0);
    means("{ at-least: 52.5, weights: { s1: 12.5, s2: 40, s3: 80 } }", |s, _, _| weigh(s) >= 52.5);
    let layers = |l: u32| [0.0, 10.0, 15.0, 15.5][l as usize - 1];
    let rule = "weights: { s1: 5, layers: { 2: 10, 3: 15, 4: 15.5 } } }";
    means(&format!("{{ at-most: 15.5, {rule}"), |s, _, l| 5.0 * f64::from(s[0]) + layers(l) <= 15.5);
    means(&format!("{{ at-least: 15, {rule}"), |s, _, l| 5.0 * f64::from(s[0]) + layers(l) >= 15.0);
    let rule = "weights: { s1: -3, s2: 2, optimizer: { sgd: -1.5, adam: 1 } } }";
    let weigh = |s: [bool; 3], o: &str| {
        let optimizer = if o == "sgd" { -1.5 } else { f64::from(o == "adam") };
        2.0 * f64::from(s[1]) - 3.0 * f64::from(s[0]) + optimizer
    };
    for limit in [-3, -1, 0, 2] {
        means(&format!("{{ at-most: {limit}, {rule}"), |s, o, _| weigh(s, o) <= f64::from(limit));
        means(&format!("{{ at-least: {limit}, {rule}"), |s, o, _| weigh(s, o) >= f64::from(limit));
    }
}

fn told(mistake: Mistake) -> String {
    let Diagnostic { message, cause, hint, .. } = mistake.what;
    let more = [cause, hint].into_iter().flatten().map(|words| format!("\n  {words}")).collect::<String>();
    format!("{}: {message}{more}", mistake.path)
}

#[test]
fn what_a_space_does_not_have_is_told_with_its_place() {
    let rules = "\
{ exactly: 3, of: [s1, s4, optimizer] }
{ at-most: 3, of: all }
{ fixed: { optimiser: adam } }
{ forbid: { optimizer: [adam, loin], layers: 5 } }
{ at-most: 1, weights: { s9: 1, layers: 2 } }
{ at-most: 1, weights: { layers: { 7: 1 } } }
{ exactly: 1, of: [s1, { s1: 1 }] }
{ exactly: 4, of: [s1, s2] }
{ at-least: 3, of: [s1, { layers: [2, 3, 4] }] }
{ at-least: 100, weights: { s1: 12.5, s2: 40 } }
{ forbid: { layers: [2, 2] } }";
    let mistakes = constrained(&space(), &written(rules)).unwrap_err();
    let _snapshots = snapshots::in_folder("plans");
    let told: Vec<String> = mistakes.into_iter().map(told).collect();
    insta::assert_snapshot!("what a space does not have", told.join("\n"));
}

#[test]
fn rules_that_contradict_each_other_are_named_and_no_others() {
    let own = Constraint::AtMost { count: 1, of: vec![Literal::new(0, 1), Literal::new(1, 1)] };
    let space = space().with_constraints(vec![own]).unwrap();
    let told_of = |rules: &str| {
        let written = written(rules);
        let rules = Rules::new(&space, &written).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
        rules.contradiction(&written).map(told)
    };
    assert_eq!(told_of("{ exactly: 2, of: [s1, s2, s3] }\n{ fixed: { s3: 1 } }"), None);
    let _snapshots = snapshots::in_folder("plans");
    let two = told_of(
        "{ exactly: 2, of: [s1, s2, s3] }\n{ fixed: { layers: 3 } }\n{ forbid: { s3: 1, layers: [2, 3] } }",
    );
    insta::assert_snapshot!("rules that contradict each other", two.unwrap());
}
