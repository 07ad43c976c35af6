//! Recorded runs, up to the report: its numbers, its words, and what a browser makes of it.

use std::collections::BTreeMap;
use std::path::Path;

use insta::assert_snapshot;
use regex::Regex;
use serde_json::Value as Json;

use crate::support::chromium::Chromium;
use crate::support::recorded::{Names, PLAIN};
use crate::support::{self, host, output, recorded};

/// Two methods, shadows, a sweep over dimensions, eight seeds, in seconds.
const EXPERIMENT: &str = "\
name: dimensions
seeds: 8
budget: { initial: 4, evaluations: 8 }
penalty: { l1: 0.01 }
benchmark: { use: bqp, options: { n: 6 } }
methods:
  psr: { surrogate: horseshoe, solver: { use: psr, options: { steps: 3, step: authors, polish: none } }, shadows: [sdp] }
  random: { surrogate: random, solver: annealing }
sweep: { benchmark.options.n: [6, 9] }
";

fn report(folders: &[&Path], more: &[&str]) -> String {
    let mut arguments = vec!["report"];
    arguments.extend(folders.iter().map(|folder| folder.to_str().unwrap()));
    arguments.extend(more);
    let seen = host(&arguments, "");
    assert!(!seen.contains("[exit code"), "{seen}");
    seen
}

fn lines(path: &Path) -> Vec<Json> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn assert_same(found: &Json, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{what}: {found} is not {expected}");
}

/// The summary, against a computation of its own from the lines of the journals.
#[test]
fn the_summary_is_what_the_journals_say() {
    let results = tempfile::tempdir().unwrap();
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", results.path().to_str().unwrap()];
    let run = output(&arguments, EXPERIMENT);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let folder = results.path().join("dimensions/r");
    let summary: Json = serde_json::from_slice(&std::fs::read(folder.join("summary.json")).unwrap()).unwrap();
    let mut finals: BTreeMap<(u64, String), Vec<f64>> = BTreeMap::new();
    for (sweep, n) in [(1, 6), (2, 9)] {
        for method in ["psr", "random"] {
            let trial = |seed: u64| folder.join(format!("trials/{method}-sweep{sweep}-seed{seed}"));
            let journals: Vec<Vec<Json>> =
                (1..=8).map(|seed| lines(&trial(seed).join("journal.jsonl"))).collect();
            let timings: Vec<Json> =
                (1..=8).flat_map(|seed| lines(&trial(seed).join("timing.jsonl"))).collect();
            let summaries = summary["methods"].as_array().unwrap();
            let found = summaries
                .iter()
                .find(|s| s["method"] == method && s["sweep"]["benchmark.options.n"] == n)
                .unwrap();
            let what = format!("{method} at {n}");

            let last = |journal: &Vec<Json>| journal.last().unwrap().clone();
            let mut best: Vec<f64> = journals.iter().map(|j| last(j)["best"].as_f64().unwrap()).collect();
            finals.insert((n, method.to_owned()), best.clone());
            let regret: Vec<f64> = journals
                .iter()
                .map(|j| (last(j)["best"].as_f64().unwrap() - last(j)["optimum"].as_f64().unwrap()).abs())
                .collect();
            assert_same(&found["final"]["mean"], mean(&best), &what);
            assert_same(&found["regret"]["mean"], mean(&regret), &what);
            let centre = mean(&best);
            let variance = best.iter().map(|b| (b - centre) * (b - centre)).sum::<f64>() / 7.0;
            assert_same(&found["final"]["standard_error"], (variance / 8.0).sqrt(), &what);
            best.sort_by(f64::total_cmp);
            assert_same(&found["final"]["median"], (best[3] + best[4]) / 2.0, &what);

            for evaluation in 1..=12 {
                let at = |journal: &Vec<Json>| {
                    let line =
                        journal.iter().find(|l| l["event"] == "evaluated" && l["evaluation"] == evaluation);
                    line.unwrap()["best"].as_f64().unwrap()
                };
                let values: Vec<f64> = journals.iter().map(at).collect();
                assert_same(&found["best_at"][evaluation - 1]["mean"], mean(&values), &what);
            }

            let seconds = |step: &str, followed: Option<bool>| -> Vec<f64> {
                let matching = timings.iter().filter(|t| {
                    t["step"] == step && (followed.is_none() || t["followed"].as_bool() == followed)
                });
                matching.map(|t| t["seconds"].as_f64().unwrap()).collect()
            };
            assert_same(&found["mean_fit_seconds"], mean(&seconds("fit", None)), &what);
            assert_same(&found["mean_afo_seconds"], mean(&seconds("solve", Some(true))), &what);
            assert_same(&found["mean_evaluate_seconds"], mean(&seconds("evaluate", None)), &what);

            if method == "psr" {
                let answers: Vec<(f64, f64)> = journals
                    .iter()
                    .flatten()
                    .filter(|line| line["event"] == "proposed")
                    .map(|line| (&line["answers"][0]["value"], &line["answers"][1]["value"]))
                    .map(|(followed, shadow)| (followed.as_f64().unwrap(), shadow.as_f64().unwrap()))
                    .collect();
                let percent: Vec<f64> = answers.iter().map(|(f, s)| 100.0 * (s - f) / s.abs()).collect();
                let shadow = &found["shadows"][0];
                assert_eq!((&shadow["solver"], &shadow["problems"]), (&"sdp".into(), &64.into()));
                assert_same(&shadow["mean_percent_improvement"], mean(&percent), &what);
                assert_same(&shadow["mean_afo_seconds"], mean(&seconds("solve", Some(false))), &what);
                let counted: u64 =
                    ["lower", "equal", "higher"].map(|key| shadow[key].as_u64().unwrap()).iter().sum();
                assert_eq!(counted, 64);
            }
        }
        compare(&summary, n, &finals[&(n, "psr".to_owned())], &finals[&(n, "random".to_owned())]);
    }
}

/// A comparison, against all 2⁸ assignments of signs. Here high values are good.
fn compare(summary: &Json, n: u64, first: &[f64], second: &[f64]) {
    let comparisons = summary["comparisons"].as_array().unwrap();
    let found = comparisons.iter().find(|c| c["sweep"]["benchmark.options.n"] == n).unwrap();
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    assert_eq!(
        (&found["first"], &found["second"], &found["seeds"]),
        (&"psr".into(), &"random".into(), &8.into())
    );
    assert_same(&found["mean_difference"], mean(&differences), "mean difference");
    assert_eq!(
        found["better"].as_u64().unwrap() as usize,
        differences.iter().filter(|d| **d > 1e-12).count()
    );
    let real: Vec<f64> = differences.into_iter().filter(|d| d.abs() > 1e-12).collect();
    let rank = |size: f64| {
        let below = real.iter().filter(|d| d.abs() < size).count() as f64;
        let same = real.iter().filter(|d| d.abs() == size).count() as f64;
        below + (same + 1.0) / 2.0
    };
    let statistic = |positive: &dyn Fn(usize) -> bool| {
        let (mut up, mut down) = (0.0_f64, 0.0_f64);
        for (i, difference) in real.iter().enumerate() {
            *(if positive(i) { &mut up } else { &mut down }) += rank(difference.abs());
        }
        up.min(down)
    };
    let observed = statistic(&|i| real[i] > 0.0);
    let all = 1_u32 << real.len();
    let as_extreme = (0..all).filter(|mask| statistic(&|i| mask >> i & 1 == 1) <= observed + 1e-9).count();
    let p = as_extreme as f64 / f64::from(all);
    assert_same(&found["p"], p, "p");
    // Two comparisons: the smaller counts twice.
    let other =
        comparisons.iter().find(|c| c["sweep"]["benchmark.options.n"] != n).unwrap()["p"].as_f64().unwrap();
    let corrected = if p <= other { 2.0 * p } else { p.max(2.0 * other) };
    assert_same(&found["p_corrected"], corrected.min(1.0), "corrected p");
}

/// The words of a page: without figures, styles and scripts.
fn words(page: &str) -> String {
    let mut text = page.to_owned();
    let rules = [
        (r"(?s)<svg\b.*?</svg>", ""),
        (r"(?s)<(style|script|title)\b.*?</(style|script|title)>", ""),
        (r"</(td|th)>", " | "),
        (r"</dt>", ": "),
        (r"</(span|section|div)>", " "),
        (r"</(p|h1|h2|h3|li|tr|dd|legend|label|summary|pre|caption)>", "\n"),
        (r"<[^>]+>", ""),
        (r" \| *\n", "\n"),
        (r"[ \t]+", " "),
        (r"\n\s*\n+", "\n"),
    ];
    for (pattern, replacement) in rules {
        text = Regex::new(pattern).unwrap().replace_all(&text, replacement).into_owned();
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn the_report_says_in_words_what_was_found() {
    let _snapshots = snapshots::in_folder("reports");
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &PLAIN);
    let seen = report(&[&run], &[]);
    assert_eq!(seen.lines().last().unwrap(), run.join("report.html").to_str().unwrap());
    assert_snapshot!("what host report prints", seen.replace(folder.path().to_str().unwrap(), "[folder]"));
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    // Of all evaluations two, so that a person reads the rest.
    let rows =
        Regex::new(r#"(?s)(<table id="evaluations".*?<tbody>(?:<tr>.*?</tr>){2}).*?(</tbody>)"#).unwrap();
    assert_snapshot!("the words of the page", words(&rows.replace(&page, "$1$2")));
    // Three evaluations of 2 ms, then four of 2 ms with 40 ms to fit and 4 ms to solve.
    let by_time = std::fs::read_to_string(run.join("figures/best-time-1.svg")).unwrap();
    assert!(by_time.contains("psr: from 10.400 at 2 to 1.8286 at 190;"), "{by_time}");
    assert_snapshot!(
        "a figure as SVG",
        std::fs::read_to_string(run.join("figures/af-improvement.svg")).unwrap()
    );
    let mut figures: Vec<String> = std::fs::read_dir(run.join("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    figures.sort();
    assert_snapshot!("the files of the figures", figures.join("\n"));
}

#[test]
fn a_report_made_again_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &PLAIN);
    let files =
        ["report.html", "summary.json", "trace.csv", "afo.csv", "figures/best-1.png", "figures/effects.png"];
    let read = || files.map(|file| std::fs::read(run.join(file)).unwrap());
    report(&[&run], &[]);
    let first = read();
    report(&[&run], &[]);
    assert!(first == read());
}

#[test]
fn runs_stand_beside_each_other_and_the_page_may_go_elsewhere() {
    let _snapshots = snapshots::in_folder("reports");
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    let (one, two) = (recorded::write(&before, &PLAIN), recorded::write(&after, &PLAIN));
    report(&[&one, &two], &[]);
    let page = std::fs::read_to_string(folder.path().join("comparison/report.html")).unwrap();
    let verdict = words(&page).lines().take(21).collect::<Vec<_>>().join("\n");
    assert_snapshot!("two runs beside each other", verdict);
    assert!(!one.join("report.html").exists());

    let file = folder.path().join("elsewhere/alone.html");
    report(&[&one], &["--output", file.to_str().unwrap()]);
    let made: Vec<_> = std::fs::read_dir(file.parent().unwrap()).unwrap().collect();
    assert_eq!(made.len(), 1);
    assert!(file.is_file());
}

/// Changes the plan of a recorded run.
fn with_plan(run: &Path, change: impl Fn(&mut Json)) {
    let path = run.join("plan.yaml");
    let mut plan: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut plan);
    std::fs::write(path, plan.to_string()).unwrap();
}

#[test]
fn what_differs_between_runs_is_said_and_what_cannot_be_compared_is_not() {
    let _snapshots = snapshots::in_folder("reports");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let runs = ["one", "two", "three"].map(|name| recorded::write(&at(name), &PLAIN));
    for (run, l1) in runs.iter().zip([0.0, 0.01, 0.01]) {
        with_plan(run, |plan| plan["penalty"] = serde_json::json!({ "l1": l1 }));
    }
    with_plan(&runs[2], |plan| {
        plan["methods"]["psr"] = serde_json::json!({ "solver": { "options": { "steps": 9 } } })
    });
    let identity = std::fs::read_to_string(runs[2].join("identity.json")).unwrap();
    std::fs::write(runs[2].join("identity.json"), identity.replace("abab", "cdcd")).unwrap();
    let apart = report(&[&runs[0], &runs[1]], &["--output", at("a").to_str().unwrap()]);
    let close = report(&[&runs[1], &runs[2]], &["--output", at("b").to_str().unwrap()]);
    let shown = format!("{apart}\n{close}").replace(folder.path().to_str().unwrap(), "[folder]");
    assert_snapshot!("what differs between runs", shown);
    let summary = |name: &str| -> Json {
        serde_json::from_slice(&std::fs::read(at(name).join("summary.json")).unwrap()).unwrap()
    };
    // Methods of one run meet each other at two dimensions; those of the other run, only where λ is the same.
    let pairs = |name: &str| summary(name)["comparisons"].as_array().unwrap().len();
    assert_eq!((pairs("a"), pairs("b")), (2 * 2, 6 * 2));
    assert_eq!(summary("a")["methods"][0]["experiment"], "recorded, l1 = 0.0");
    let page = std::fs::read_to_string(at("a").join("report.html")).unwrap();
    let words = words(&page);
    let (from, to) = (words.find("What differs").unwrap(), words.find("The best point").unwrap());
    assert_snapshot!("what differs on the page", &words[from..to]);
}

#[test]
fn the_answer_has_the_objectives_names_also_before_a_run_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &PLAIN);
    let heater: Vec<String> = (0..8).map(|level| format!("{}kW", 2 * level)).collect();
    let variable = |name: &str, levels: &[&str]| serde_json::json!({ "name": name, "levels": levels });
    let variables = serde_json::json!([
        variable("valve", &["shut", "open"]), variable("pump", &["off", "on"]), { "name": "heater", "levels": heater }
    ]);
    let spaces = serde_json::json!({ "spaces": [{ "variables": variables }], "points": [0, 0] });
    std::fs::write(run.join("spaces.json"), spaces.to_string()).unwrap();
    // Without their last lines, no trial has finished: nothing has a description.
    for entry in std::fs::read_dir(run.join("trials")).unwrap() {
        let path = entry.unwrap().path().join("journal.jsonl");
        let journal = std::fs::read_to_string(&path).unwrap();
        let kept = journal.split_inclusive('\n').filter(|line| !line.contains("\"event\":\"finished\""));
        std::fs::write(&path, kept.collect::<String>()).unwrap();
    }
    let seen = report(&[&run], &[]);
    // Of seven seeds, the first is the best by construction, and the seventh evaluation: 10 / 7 + 0.1.
    assert!(
        seen.contains("psr, n = 4: 1.5286, seed 1, evaluation 7\n    valve=open pump=off heater=14kW\n"),
        "{seen}"
    );
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    let (answer, verdict) = (page.find("heater=14kW").unwrap(), page.find("In short").unwrap());
    assert!(answer < verdict);
    let best: Json = serde_json::from_slice(&std::fs::read(run.join("best.json")).unwrap()).unwrap();
    let best = best["best"].as_array().unwrap();
    assert_eq!(best.len(), 4);
    let total = 10.0 / 7.0 + 0.1;
    assert_eq!(
        best[0],
        serde_json::json!({
            "experiment": "recorded", "method": "psr", "sweep": { "benchmark.options.n": 4 }, "maximize": false,
            "value": total, "penalty": 0.0, "total": total, "seed": 1, "trial": "psr-sweep1-seed1", "evaluation": 7,
            "levels": [1, 0, 7], "point": { "valve": "open", "pump": "off", "heater": "14kW" }
        })
    );
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let _snapshots = snapshots::in_folder("reports");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_snapshot!("no run", host(&["report", path], "").replace(path, "[folder]"));
}

/// Names that try to be something else.
const HOSTILE: Names<'static> = Names {
    methods: ["<script>hacked=1</script>", "=cmd|' /C calc'!A0"],
    shadow: "\"><img src=x onerror=hacked=2>",
    reason: "</td></table><script>hacked=3</script>\u{1}\u{202E}&lt;",
    description: "a=1 <iframe src=https://example.org></iframe>=2",
    sweep: "x\" onmouseover=\"hacked=4",
};

#[test]
fn hostile_names_stay_words() {
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &HOSTILE);
    report(&[&run], &[]);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    let mut files = vec![page];
    for entry in std::fs::read_dir(run.join("figures")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().unwrap() == "svg" {
            files.push(std::fs::read_to_string(path).unwrap());
        }
    }
    for text in &files {
        for markup in ["<script>hacked", "<img", "<iframe", "\" onmouseover=\"", "\u{1}", "\u{202E}"] {
            assert!(!text.contains(markup), "{markup}");
        }
    }
    assert!(files[0].contains("&lt;script&gt;hacked=3"), "the reason is shown");
    let trace = std::fs::read_to_string(run.join("trace.csv")).unwrap();
    assert!(trace.contains(",'=cmd|' /C calc'!A0,"), "{}", trace.lines().last().unwrap());
    let afo = std::fs::read_to_string(run.join("afo.csv")).unwrap();
    assert!(afo.contains(",\"\"\"><img src=x onerror=hacked=2>\","), "{}", afo.lines().last().unwrap());
}

#[test]
fn exported_rows_are_those_of_the_journals() {
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &PLAIN);
    report(&[&run], &[]);
    let place = folder.path().join("exported");
    for format in ["csv", "json", "parquet"] {
        let arguments =
            ["export", run.to_str().unwrap(), "--format", format, "--output", place.to_str().unwrap()];
        let seen = host(&arguments, "");
        assert_eq!(seen.lines().count(), 2, "{seen}");
    }
    for table in ["trace", "afo"] {
        let read = |folder: &Path| std::fs::read(folder.join(format!("{table}.csv"))).unwrap();
        assert!(read(&run) == read(&place));
        let parquet = std::fs::read(place.join(format!("{table}.parquet"))).unwrap();
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    }
    let trace = lines(&place.join("trace.jsonl"));
    assert_eq!(trace.len(), 28 * 7);
    let failed: Vec<&Json> = trace.iter().filter(|row| row["status"] == "failed").collect();
    assert_eq!(failed.len(), 4);
    assert_eq!(failed[0]["reason"], PLAIN.reason);
    assert_eq!(failed[0]["value"], Json::Null);
    assert_eq!(trace[0]["benchmark.options.n"], 4.0);
    let afo = lines(&place.join("afo.jsonl"));
    assert_eq!(afo.len(), 28 * 4 * 2);
    assert_eq!((&afo[1]["followed"], &afo[1]["seconds"]), (&false.into(), &0.012.into()));
}

const COUNT_VISIBLE: &str = "[...document.querySelectorAll('svg.figure')].filter(svg => { \
    const box = svg.getBoundingClientRect(); return box.width > 150 && box.height > 60; }).length";

/// Figures 1 and 2, gaps and times; at each dimension figure 3, evaluations, final values, predictions and effects.
const VISIBLE: usize = 4 + 2 * 5;

const SMALLEST_WORDS: &str = "Math.min(...[...document.querySelectorAll('svg.figure text')].filter(t => \
    t.getBoundingClientRect().width > 0).map(t => { const svg = t.ownerSVGElement; \
    return parseFloat(t.getAttribute('font-size')) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; }))";

#[test]
fn a_browser_shows_the_page_without_a_complaint() {
    let Some(mut browser) = Chromium::start("a_browser_shows_the_page_without_a_complaint") else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &PLAIN);
    report(&[&run], &[]);
    let page = run.join("report.html");
    assert!(page.metadata().unwrap().len() < 3_000_000);
    for (width, dark) in [(400, false), (1400, false), (1400, true)] {
        browser.open(&page, width, dark);
        assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
        assert!(browser.requests().iter().all(|url| url.starts_with("file://")), "{:?}", browser.requests());
        assert_eq!(browser.evaluate(COUNT_VISIBLE), VISIBLE);
        // Words are no smaller than ten pixels, also on a telephone.
        let smallest = browser.evaluate(SMALLEST_WORDS);
        assert!(smallest.as_f64().unwrap() >= 10.0, "{smallest} pixels at {width}");
        let words = browser.evaluate(
            "[...document.querySelectorAll('svg.figure text')].every(t => t.textContent !== 'NaN')",
        );
        assert_eq!(words, true);
        assert_eq!(
            browser.evaluate("document.documentElement.scrollWidth <= innerWidth"),
            true,
            "at {width}"
        );
        let paper = browser.evaluate("getComputedStyle(document.documentElement).backgroundColor");
        assert_eq!(paper, if dark { "rgb(22, 25, 30)" } else { "rgb(255, 255, 255)" });
        let shot = browser.screenshot();
        assert!(shot.len() > 50_000, "{} bytes", shot.len());
        let name = format!("report-{width}{}.png", if dark { "-dark" } else { "" });
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), shot).unwrap();
    }
}

#[test]
fn methods_and_axes_are_switched_and_values_shown_where_one_points() {
    let name = "methods_and_axes_are_switched_and_values_shown_where_one_points";
    let Some(mut browser) = Chromium::start(name) else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &PLAIN);
    report(&[&run], &[]);
    browser.open(&run.join("report.html"), 1400, false);
    let shown = |browser: &mut Chromium, key: usize| {
        let all = format!("[...document.querySelectorAll('#panel-best .v0 .s{key}')]");
        browser.evaluate(&format!("{all}.filter(g => g.getBoundingClientRect().width > 0).length"))
    };
    let (first, second) = (shown(&mut browser, 0), shown(&mut browser, 1));
    assert!(first.as_u64().unwrap() >= 4 && first == second, "{first} {second}");
    browser.click("#values-s1");
    assert_eq!((shown(&mut browser, 0), shown(&mut browser, 1)), (first.clone(), 0.into()));
    browser.click("#values-s1");
    assert_eq!((shown(&mut browser, 0), shown(&mut browser, 1)), (first, second));

    let visible = |browser: &mut Chromium, view: usize| {
        browser.evaluate(&format!(
            "document.querySelector('#panel-best .v{view}').getBoundingClientRect().height > 0"
        ))
    };
    assert_eq!((visible(&mut browser, 0), visible(&mut browser, 2)), (true.into(), false.into()));
    browser.click("label:has(#best-v2)");
    assert_eq!((visible(&mut browser, 0), visible(&mut browser, 2)), (false.into(), true.into()));

    browser.point_at("#panel-best .v2 svg");
    let tip = browser
        .evaluate("document.querySelector('#tip').hidden ? '' : document.querySelector('#tip').innerText");
    let tip = tip.as_str().unwrap().to_owned();
    assert!(tip.starts_with("evaluations: 4\n") && tip.contains("psr: ") && tip.contains("sdp: "), "{tip}");
    // The line under the pointer begins below the figure's heading.
    assert_eq!(browser.evaluate("document.querySelector('.guide').getAttribute('y1')"), "30");
    browser.point_at("#panel-final g[data-tip] polygon");
    let tip = browser.evaluate("document.querySelector('#tip').innerText");
    assert!(tip.as_str().unwrap().contains("mean"), "{tip}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn evaluations_are_searched_and_sorted() {
    let Some(mut browser) = Chromium::start("evaluations_are_searched_and_sorted") else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &PLAIN);
    report(&[&run], &[]);
    browser.open(&run.join("report.html"), 1400, false);
    let shown = "[...document.querySelectorAll('#evaluations tbody tr')].filter(r => !r.hidden)";
    let count = format!("{shown}.length");
    assert_eq!(browser.evaluate(&count), 28 * 7);
    let search = |browser: &mut Chromium, words: &str| {
        browser.evaluate(&format!(
            "(() => {{ const i = document.querySelector('.search input'); i.value = {words:?}; \
             i.dispatchEvent(new Event('input')); }})()"
        ));
    };
    // Two methods at two dimensions fail at one evaluation of seed 3.
    search(&mut browser, "failed");
    assert_eq!(browser.evaluate(&count), 4);
    search(&mut browser, "PSR failed");
    assert_eq!(browser.evaluate(&count), 2);
    assert_eq!(browser.evaluate("document.querySelector('.search span').innerText"), "2 of 196");
    search(&mut browser, "");
    let value = |row: &str| format!("{shown}.at({row}).cells[6].innerText");
    browser.click("#evaluations th:nth-child(7)");
    // 10 / 7 + 0.1 is the lowest, 10 + 0.7 the highest; what has no value comes last, or first.
    assert_eq!(browser.evaluate(&value("0")), "1.5286");
    assert_eq!(browser.evaluate(&value("-1")), "–");
    browser.click("#evaluations th:nth-child(7)");
    assert_eq!(browser.evaluate(&value("4")), "10.700");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_browser_without_scripts_shows_the_same_figures() {
    let Some(mut browser) = Chromium::start("a_browser_without_scripts_shows_the_same_figures") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &PLAIN);
    report(&[&run], &[]);
    // The page's own script is taken out; the test's questions still run.
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    let without = Regex::new("(?s)<script>.*</script>").unwrap().replace(&page, "").into_owned();
    assert_ne!(page, without);
    std::fs::write(run.join("without.html"), without).unwrap();
    browser.open(&run.join("without.html"), 1400, false);
    assert_eq!(browser.evaluate(COUNT_VISIBLE), VISIBLE);
    browser.click("label:has(#best-v2)");
    assert_eq!(browser.evaluate(COUNT_VISIBLE), VISIBLE);
    browser.click("#values-s0");
    let left = browser.evaluate("[...document.querySelectorAll('#values .s0')].filter(g => g.getBoundingClientRect().width > 0).length");
    assert_eq!(left, 0);
}

#[test]
fn a_browser_takes_hostile_names_for_words() {
    let Some(mut browser) = Chromium::start("a_browser_takes_hostile_names_for_words") else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = recorded::write(folder.path(), &HOSTILE);
    report(&[&run], &[]);
    browser.open(&run.join("report.html"), 1400, false);
    browser.point_at("#panel-best .v0 svg");
    assert_eq!(browser.evaluate("typeof hacked"), "undefined");
    assert_eq!(browser.evaluate("document.querySelectorAll('img, iframe, script').length"), 1);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    assert_eq!(browser.evaluate("document.querySelector('#finals td').innerText.trim()"), HOSTILE.methods[0]);
    // A figure's file is whole: a browser says where XML is broken.
    for figure in ["best-1.svg", "final-2.svg", "af-improvement.svg", "time.svg"] {
        browser.open(&run.join("figures").join(figure), 800, false);
        assert_eq!(browser.evaluate("document.querySelector('parsererror') === null"), true, "{figure}");
        assert_eq!(browser.evaluate("document.documentElement.tagName"), "svg");
    }
}

#[test]
fn progress_is_json_where_that_is_asked_for_and_nothing_where_quiet() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let run = |id: &str, more: &[&str]| {
        let arguments = ["run", "-", "--output", folder, "--run-id", id];
        let output = output(&[&arguments[..], more].concat(), support::SMALLEST);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = run("json", &["--log-format", "json"]);
    let said: Vec<Json> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words: Vec<&str> = said.iter().map(|line| line["progress"].as_str().unwrap()).collect();
    assert_eq!(words, ["begins", "trial-begins", "trial-ends", "ends", "reported"]);
    assert_eq!(said[2]["trial"], "annealing-seed1");
    let last = &said[3];
    assert_eq!((&last["done"], &last["trials"], &last["evaluations"]), (&1.into(), &1.into(), &5.into()));
    assert_eq!(run("quiet", &["--quiet"]), "");
}
