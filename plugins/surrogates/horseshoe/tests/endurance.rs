//! Steps over data that break samplers; `--example endurance` takes a million.

#[path = "../examples/endurance/data.rs"]
mod data;

#[test]
fn no_step_fails_on_nasty_data() {
    let cases = data::cases();
    for case in &cases {
        data::walk(case, 600);
    }
    assert!(cases.len() >= 36);
}
