//! Real programs: shells that speak the protocol well, badly or not at all, and Python where there is one.
#![allow(clippy::unwrap_used, reason = "`unwrap` is for tests, their helpers among them")]

use std::time::{Duration, Instant};

use plugin_api::serde_json::{Value, json};
use plugin_api::{Benchmark, Evaluation, Point, Result, Sense, options, testing};

use crate::Command;

/// A command over two variables, with a shell script as its program.
fn shell(script: &str, more: Value) -> Result<Command> {
    let mut json =
        json!({ "run": ["sh", "-c", script, "sh"], "variables": { "a": [1, 2], "b": ["off", "on"] } });
    json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Command::new(options::parse(&json.to_string())?, 0)
}

/// A program that says hello, then answers each request by this piece of shell, with the request in `$line`.
fn answering(answer: &str) -> Result<Command> {
    shell(&format!("read line; echo '{{\"hello\": 1}}'; while read line; do {answer}; done"), json!({}))
}

fn refusal(script: &str, more: Value) -> String {
    match shell(script, more) {
        Ok(_) => panic!("taken"),
        Err(error) => error.to_string(),
    }
}

fn evaluate(command: &mut Command) -> Result<Evaluation> {
    command.evaluate(&Point::from(vec![1, 1]), 3 << 11)
}

fn failure(command: &mut Command) -> String {
    evaluate(command).unwrap_err().to_string()
}

#[test]
fn a_program_that_keeps_the_protocol_keeps_the_contract() {
    testing::check_benchmark(|| answering(r#"echo "{\"value\": ${#line}}""#).unwrap());
}

#[test]
fn a_request_has_each_level_in_its_own_type_and_a_seed() {
    let mut command = answering(r#"echo "$line" >&2; echo '{"error": "see above"}'; exit 3"#).unwrap();
    assert_eq!(failure(&mut command), "see above", "what the program itself says is the reason");
    let said = failure(&mut answering(r#"echo "$line" >&2; exit 3"#).unwrap());
    assert_eq!(
        said,
        r#"the program ended with exit code 3 before it answered; it said: {"point":{"a":2,"b":"on"},"seed":3}"#
    );
}

#[test]
fn infeasible_and_failed_evaluations_are_told_apart_and_the_program_lives_on() {
    let answer = r#"n=$((n+1)); case $n in 1) echo '{"infeasible": "it burns"}';; 2) echo '{"error": "no power"}';; *) echo "{\"value\": $n}";; esac"#;
    let mut command = answering(answer).unwrap();
    assert_eq!(evaluate(&mut command), Ok(Evaluation::infeasible("it burns")));
    assert_eq!(failure(&mut command), "no power");
    assert_eq!(evaluate(&mut command), Ok(3.0.into()), "it counts: it is the same process");
}

#[test]
fn what_is_no_answer_is_a_failure_and_the_program_is_started_again() {
    let answer =
        r#"n=$((n+1)); if [ $n = 2 ]; then echo oops >&2; echo what; else echo "{\"value\": $n}"; fi"#;
    let mut command = answering(answer).unwrap();
    assert_eq!(evaluate(&mut command), Ok(1.0.into()));
    let said = failure(&mut command);
    assert!(said.starts_with("the program answered `what`: that is not JSON"), "{said}");
    assert!(said.ends_with("it said: oops"), "{said}");
    assert_eq!(evaluate(&mut command), Ok(1.0.into()), "it counts from the start");
}

#[test]
fn a_second_answer_is_no_answer_to_the_next_request() {
    // Made once the second answer has been written.
    let written = std::env::temp_dir().join(format!("command-{}", std::process::id()));
    let answer = format!(r#"echo '{{"value": 1}}'; echo '{{"value": 99}}'; : > '{}'"#, written.display());
    let mut command = answering(&answer).unwrap();
    assert_eq!(evaluate(&mut command), Ok(1.0.into()));
    until(|| written.exists());
    std::thread::sleep(Duration::from_millis(200));
    let said = failure(&mut command);
    assert_eq!(said, r#"the program said `{"value": 99}`, which nobody had asked for"#);
    assert_eq!(evaluate(&mut command), Ok(1.0.into()), "it was started again");
    drop(command);
    std::fs::remove_file(written).unwrap();
}

#[test]
fn how_a_program_ended_is_told_with_its_last_lines() {
    let many = "for i in 1 2 3 4 5 6 7 8; do echo line $i >&2; done; ";
    let said = failure(&mut answering(&format!("{many} exit 9")).unwrap());
    let expected = "the program ended with exit code 9 before it answered; it said: line 4 / line 5 / line 6 / line 7 / line 8";
    assert_eq!(said, expected);
    assert_eq!(
        failure(&mut answering("kill -SEGV $$").unwrap()),
        "the program was ended by signal 11 before it answered"
    );
    let long = failure(&mut answering("printf '%01000d\\n' 7 >&2; exit 1").unwrap());
    assert!(long.contains("it said: …000") && long.len() < 800, "{long}");
}

#[test]
fn a_program_that_says_no_hello_is_a_mistake_in_the_options() {
    let folder = std::env::current_dir().unwrap();
    assert_eq!(
        refusal("exit 4", json!({})),
        format!(
            "`run`: the program `sh -c exit 4 sh` ended with exit code 4 before it answered\nhint: to see all that it says, \
             run it by hand: cd {} && sh -c exit 4 sh",
            folder.display()
        )
    );
    let forgotten = refusal("true", json!({}));
    assert!(
        forgotten.contains("ended with exit code 0 before it answered\nhint: a script in Python ends with")
    );
    let two = refusal("echo '{\"hello\": 2}'", json!({}));
    let said = "said no hello but `{\"hello\": 2}`: the host speaks version 1 of the protocol\nhint: its standard output is";
    assert!(two.contains(said), "{two}");
    assert!(refusal("echo 1.5", json!({})).contains("said no hello but `1.5`: that is not a JSON object"));
    let begun = Instant::now();
    let silent = refusal("sleep 100; true", json!({ "start-seconds": 0.2 }));
    assert!(silent.contains("said no hello within 200ms; `mode: once` is for"), "{silent}");
    assert!(begun.elapsed() < Duration::from_secs(50), "the shell and its sleep are ended");
}

#[test]
fn a_program_or_folder_that_is_not_there_has_its_place() {
    let refusal = |json: Value| match Command::new(options::parse(&json.to_string()).unwrap(), 0) {
        Ok(_) => panic!("taken"),
        Err(error) => error.to_string(),
    };
    let variables = json!({ "a": [1, 2] });
    assert!(refusal(json!({})).starts_with("`run`: is missing"));
    assert_eq!(
        refusal(json!({ "run": ["no-such-program"], "variables": variables })),
        "`run[0]`: no program `no-such-program` in PATH"
    );
    assert!(refusal(json!({ "run": ["./none"] })).starts_with("`run[0]`: there is no program /"));
    assert!(refusal(json!({ "run": ["./src"] })).ends_with("/src is not a file"));
    assert!(refusal(json!({ "run": ["./Cargo.toml"] })).contains("may not be executed; `chmod +x "));
    assert!(refusal(json!({ "run": ["Cargo.toml"] })).ends_with("write `./Cargo.toml`"));
    assert!(
        refusal(json!({ "run": ["sh"], "directory": "nowhere" }))
            .starts_with("`directory`: there is no folder")
    );
    assert!(refusal(json!({ "run": ["true"], "mode": "once" })).starts_with("`variables`: is missing"));
    assert!(
        refusal(json!({ "run": ["true"], "environment": { "A=B": 1 } })).starts_with("`environment.A=B`")
    );
    let pass =
        json!({ "run": ["true"], "mode": "once", "pass": "environment", "variables": { "a=b": [1, 2] } });
    assert!(refusal(pass).starts_with("`variables.a=b`: cannot be the name of an environment variable"));
}

#[test]
fn a_program_may_say_its_variables_sense_and_noise_itself() {
    let hello = r#"echo '{"hello": 1, "variables": {"x": [1, 2, 3]}, "ordered": ["x"], "sense": "maximize", "deterministic": false}'; cat >/dev/null"#;
    let command = shell(hello, json!({ "variables": {} })).unwrap();
    let space = command.space().unwrap();
    assert_eq!(space.describe(&Point::from(vec![2])), "x=3");
    assert!(space.variables()[0].is_ordered());
    assert_eq!((command.sense(), command.deterministic()), (Sense::Maximize, false));
    let over = shell(hello, json!({ "variables": {}, "sense": "minimize", "deterministic": true })).unwrap();
    assert_eq!(
        (over.sense(), over.deterministic()),
        (Sense::Minimize, true),
        "the manifest has the last word"
    );
    assert!(refusal(hello, json!({})).starts_with("`variables`: the program says its variables itself"));
    let none = refusal(r#"echo '{"hello": 1}'; cat >/dev/null"#, json!({ "variables": {} }));
    assert!(
        none.starts_with("`variables`: is missing") && none.ends_with("`@objective(variables=…)`"),
        "{none}"
    );
    let wrong = refusal(r#"echo '{"hello": 1, "variables": {"x": [1]}}'"#, json!({ "variables": {} }));
    assert_eq!(wrong, "`run`: the program's own `variables.x` needs at least two levels, not 1");
}

#[test]
fn once_takes_the_last_line_and_passes_arguments_or_the_environment() {
    let mode = |pass: &str| json!({ "mode": "once", "pass": pass, "environment": { "base": 100 } });
    let mut arguments =
        shell(r#"echo first; echo "$1 $2" >&2; echo $(($base + ${1#--a=}))"#, mode("arguments")).unwrap();
    assert_eq!(evaluate(&mut arguments), Ok(102.0.into()));
    let mut environment =
        shell(r#"echo $(($base + $a + ${#b} + HOST_SEED * 1000)); echo"#, mode("environment")).unwrap();
    assert_eq!(evaluate(&mut environment), Ok(3104.0.into()));
    testing::check_benchmark(|| shell(r#"echo $1 | tr -dc 0-9; echo"#, mode("arguments")).unwrap());
}

#[test]
fn once_ends_as_a_value_infeasible_or_failed() {
    let once = |script: &str, code: Option<i32>| {
        let more = json!({ "mode": "once", "infeasible-exit-code": code });
        evaluate(&mut shell(script, more).unwrap()).map_err(|error| error.to_string())
    };
    assert_eq!(once("echo 1e3", None), Ok(1000.0.into()));
    assert_eq!(once("echo infeasible: it burns", None), Ok(Evaluation::infeasible("it burns")));
    assert_eq!(once("echo infeasible", None), Ok(Evaluation::infeasible("the program gave no reason")));
    assert_eq!(once("echo too hot; exit 7", Some(7)), Ok(Evaluation::infeasible("too hot")));
    assert_eq!(once("exit 7", Some(7)), Ok(Evaluation::infeasible("exit code 7")));
    assert_eq!(
        once("echo 5; echo why >&2; exit 1", Some(7)),
        Err("the program ended with exit code 1; it said: why".to_owned())
    );
    assert_eq!(
        once("kill -KILL $$", None),
        Err("the program was ended by signal 9 (out of memory?)".to_owned())
    );
    for (script, printed) in [("echo nan", "nan"), ("echo inf", "inf"), ("echo infeasibly", "infeasibly")] {
        let expected = format!("the program printed `{printed}` as its last line, which is no value");
        assert_eq!(once(script, None), Err(expected));
    }
    assert!(once("true", None).unwrap_err().starts_with("the program ended without a line on its output"));
}

/// What sleeps this long; no other test does.
#[cfg(target_os = "linux")]
fn sleeping(seconds: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| {
        std::fs::read(process.path().join("cmdline"))
            .is_ok_and(|line| line == format!("sleep\0{seconds}\0").as_bytes())
    })
}

/// The system takes its time to start and to end a process.
#[cfg(target_os = "linux")]
fn until(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_that_a_program_has_started_is_left() {
    let mut once = shell("sleep 4321 & echo 5", json!({ "mode": "once" })).unwrap();
    let begun = Instant::now();
    assert_eq!(evaluate(&mut once), Ok(5.0.into()));
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "the sleep holds the output open, and is not waited for"
    );
    until(|| !sleeping("4321"));
    let mut persistent = answering(r#"sleep 4322 & echo '{"value": 1}'"#).unwrap();
    assert_eq!(evaluate(&mut persistent), Ok(1.0.into()));
    until(|| sleeping("4322"));
    drop(persistent);
    until(|| !sleeping("4322"));
}

#[test]
fn python_serves_decorated_functions_and_passes_its_own_tests() {
    let python = |arguments: &[&str]| std::process::Command::new("python3").args(arguments).output();
    if !python(&["--version"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3 here");
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../plugin-api/python");
    let own = python(&["-B", "-m", "unittest", "discover", folder]).unwrap();
    assert!(own.status.success(), "{}", String::from_utf8_lossy(&own.stderr));
    let script = "from workbench import *\n\
        @objective(variables={'a': [1, 2], 'b': ['off', 'on']}, sense='maximize')\n\
        def f(a, b, seed):\n    print('noise')\n    return a if b == 'on' else 1 / 0\n\
        f.serve()";
    let json = json!({ "run": ["python3", "-B", "-c", script], "directory": folder });
    let mut command = Command::new(options::parse(&json.to_string()).unwrap(), 0).unwrap();
    assert_eq!(command.sense(), Sense::Maximize);
    assert_eq!(evaluate(&mut command), Ok(2.0.into()));
    let error = command.evaluate(&Point::from(vec![0, 0]), 1).unwrap_err();
    assert_eq!(error.to_string(), "ZeroDivisionError: division by zero (<string>, line 5)");
    // What a script prints before it serves is no answer either.
    let early = format!("{}; print('loading')\n{}", "import workbench", script);
    let json = json!({ "run": ["python3", "-B", "-c", early], "directory": folder });
    let mut command = Command::new(options::parse(&json.to_string()).unwrap(), 0).unwrap();
    assert_eq!(evaluate(&mut command), Ok(2.0.into()));
}
