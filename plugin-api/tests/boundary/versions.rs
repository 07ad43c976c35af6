//! A plugin of api 1.x loads into every host of 1.x, be it older or newer.
//!
//! The newer version is the api as it is with additions of each sort that a minor version may make; the older one is
//! without what 1.1 added.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use plugin_api::load::{API_VERSION, Plugin};
use plugin_api::serde_json::json;
use plugin_api::{Problem, Quadratic, Solver};

use crate::dylib;
use crate::dylibs::{API_MANIFEST, API_VERSION_LINE, Built, Patch, Stage};
use crate::every_call::transcript;

const MODULE: &str = "plugin-api/src/abi/module.rs";
const LOAD: &str = "plugin-api/src/abi/load.rs";
const BENCHMARK: &str = "plugin-api/src/abi/kinds/benchmark.rs";
const FUNCTION: &str = "plugin-api/src/abi/kinds/function.rs";
const SURROGATE: &str = "plugin-api/src/abi/kinds/surrogate.rs";
const SOLVER: &str = "plugin-api/src/abi/kinds/solver.rs";

const NEWER: Stage<'_> = Stage {
    name: "newer",
    patches: &[
        // A minor version that no release will reach.
        Patch { file: API_MANIFEST, old: API_VERSION_LINE, new: "version = \"1.9999.0\"" },
        // A field of the module; the accessor that abi_stable writes for it is unsafe inside.
        Patch {
            file: MODULE,
            old: "//! Everything here is called by the export macros",
            new: "#![allow(unsafe_code)]\n//! Everything here is called by the export macros",
        },
        Patch {
            file: MODULE,
            old: "-> WireResult<SolverObject>,\n}",
            new: "-> WireResult<SolverObject>,\n    pub(crate) added: RStr<'static>,\n}",
        },
        Patch {
            file: MODULE,
            old: "        solver: no_solver,",
            new: "        solver: no_solver,\n        added: \"there\".into(),",
        },
        Patch {
            file: LOAD,
            old: "impl Plugin {",
            new: "impl Plugin {
                /// The added field.
                pub fn added_field(&self) -> Option<String> {
                    match &self.module {
                        Module::Rust(module) => module.added().map(|text| text.to_string()),
                        Module::C(_) => None,
                    }
                }",
        },
        // A method of a trait that the plugin implements and the host calls.
        Patch {
            file: SOLVER,
            old: "        guard(|| Err(no_state()))
    }
}",
            new: "        guard(|| Err(no_state()))
    }
                fn added(&self) -> RString {
                    \"by default\".into()
                }
}",
        },
        Patch {
            file: SOLVER,
            old: "impl SolverWire for PluginSolver {",
            new: "impl SolverWire for PluginSolver {
                fn added(&self) -> RString {
                    \"by the plugin\".into()
                }",
        },
        // Methods of traits that the host implements and the plugin calls.
        Patch {
            file: SOLVER,
            old: "    fn time_limit_nanoseconds(&self) -> ROption<u64>;",
            new: "    fn time_limit_nanoseconds(&self) -> ROption<u64>;
                fn added(&self) -> u64 {
                    7
                }",
        },
        Patch {
            file: SOLVER,
            old: "impl ProblemWire for SentProblem<'_> {",
            new: "impl ProblemWire for SentProblem<'_> {
                fn added(&self) -> u64 {
                    8
                }",
        },
        Patch {
            file: SOLVER,
            old: "    fn stop(&mut self, stop: u8);",
            new: "    fn stop(&mut self, stop: u8);
                fn added(&mut self) -> u64 {
                    5
                }",
        },
        Patch {
            file: SOLVER,
            old: "impl AnswerWire for WrittenAnswer {",
            new: "impl AnswerWire for WrittenAnswer {
                fn added(&mut self) -> u64 {
                    6
                }",
        },
        Patch {
            file: SOLVER,
            old: "            let problem = read_problem(problem)?;",
            new: "            let added = 10 * problem.added() + answer.added();
            let problem = read_problem(problem)?;",
        },
        Patch {
            file: SOLVER,
            old: "write_answer(&found, answer);",
            new: "write_answer(&found.with_count(\"added\", added), answer);",
        },
        // A method of each of the other traits, which nobody calls: the layouts have to agree nonetheless.
        Patch {
            file: BENCHMARK,
            old: "    fn infeasible(&mut self, reason: RStr<'_>);",
            new: "    fn infeasible(&mut self, reason: RStr<'_>);
                fn added(&mut self) -> u64 {
                    9
                }",
        },
        Patch {
            file: SURROGATE,
            old: "    fn noisy(&self) -> bool {
        false
    }",
            new: "    fn noisy(&self) -> bool {
        false
    }
                fn added(&self) -> u64 {
                    9
                }",
        },
        Patch {
            file: SURROGATE,
            old: "    fn general(&mut self, function: FunctionObject);",
            new: "    fn general(&mut self, function: FunctionObject);
                fn added(&mut self) -> u64 {
                    9
                }",
        },
        Patch {
            file: SURROGATE,
            old: "    fn predictions(&mut self, means: RSlice<'_, f64>, deviations: RSlice<'_, f64>);",
            new: "    fn predictions(&mut self, means: RSlice<'_, f64>, deviations: RSlice<'_, f64>);
                fn added(&mut self) -> u64 {
                    9
                }",
        },
        Patch {
            file: SURROGATE,
            old: "    fn effect(&mut self, bits: RSlice<'_, usize>, size: f64, deviation: f64);",
            new: "    fn effect(&mut self, bits: RSlice<'_, usize>, size: f64, deviation: f64);
                fn added(&mut self) -> u64 {
                    9
                }",
        },
        Patch {
            file: FUNCTION,
            old: "        gains: RSliceMut<'_, f64>,
    ) -> WireResult<()>;",
            new: "        gains: RSliceMut<'_, f64>,
    ) -> WireResult<()>;
                fn added(&self) -> u64 {
                    9
                }",
        },
        // A property, and a name in a list that this version does not know.
        Patch {
            file: SOLVER,
            old: "    keeps: Vec<String>,\n}",
            new: "    keeps: Vec<String>,\n    #[serde(default)]\n    added: bool,\n}",
        },
        Patch {
            file: SOLVER,
            old: "keeps: keeps.map(|rule| rule.to_string()).collect(),",
            new: "keeps: keeps.map(|rule| rule.to_string()).chain([\"added\".to_owned()]).collect(),
                added: true,",
        },
        Patch {
            file: SOLVER,
            old: "impl LoadedSolver {",
            new: "impl LoadedSolver {
                /// The added method.
                pub fn added_method(&self) -> String {
                    self.object.added().into_string()
                }
                /// The added property.
                pub fn added_property(&self) -> bool {
                    self.properties.added
                }",
        },
    ],
};

/// Version 1.0: solvers had no state.
const OLDER: Stage<'_> = Stage {
    name: "older",
    patches: &[
        Patch { file: API_MANIFEST, old: API_VERSION_LINE, new: "version = \"1.0.0\"" },
        Patch {
            file: SOLVER,
            old: "    // Since 1.1; the host takes these bodies for an older plugin.
    fn save(&self) -> WireResult<ROption<RVec<u8>>> {
        ROk(ROption::RNone)
    }
    fn restore(&mut self, _state: RSlice<'_, u8>) -> WireResult<()> {
        guard(|| Err(no_state()))
    }
}",
            new: "}",
        },
        Patch {
            file: SOLVER,
            old: "    fn save(&self) -> WireResult<ROption<RVec<u8>>> {
        guard(|| Ok(self.inner.as_ref().ok_or_else(closed)?.save()?.map(RVec::from).into()))
    }
    fn restore(&mut self, state: RSlice<'_, u8>) -> WireResult<()> {
        guard(|| self.inner.as_mut().ok_or_else(closed)?.restore(&state))
    }
",
            new: "",
        },
        Patch {
            file: SOLVER,
            old: "    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(unwire(self.object.save())?.into_option().map(RVec::into_vec))
    }
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        unwire(self.object.restore(RSlice::from_slice(state)))
    }
",
            new: "",
        },
        Patch {
            file: SOLVER,
            old: "RBox, ROk, ROption, RSlice, RStr, RString, RVec",
            new: "RBox, ROption, RSlice, RStr, RString",
        },
        Patch { file: SOLVER, old: "use crate::solver::no_state;\n", new: "" },
    ],
};

const KINDS: [&str; 4] = ["benchmark", "encoder", "surrogate", "solver"];

/// The plugins of the newer version, and a host.
fn newer() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| NEWER.build(&["benchmark", "encoder", "surrogate", "solver", "loader"], &[]))
}

fn newer_files() -> [&'static Path; 4] {
    KINDS.map(|kind| newer()[kind].as_path())
}

/// What the host of the newer version makes of these plugins: its transcript, and what they have of the additions.
fn in_newer_host(files: [&Path; 4]) -> (String, String) {
    let output = Command::new(&newer()["loader"]).args(files).output().expect("the loader starts");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaints}", output.status);
    assert_eq!(complaints, "", "a panic that became an error was printed as well");
    let lines = String::from_utf8(output.stdout).expect("the loader writes UTF-8");
    let (transcript, additions) = lines.trim_end().rsplit_once('\n').expect("the additions stand last");
    (transcript.to_owned(), additions.to_owned())
}

/// What a plugin of this version has of the additions.
fn nothing_added() -> String {
    format!("api {API_VERSION}: field None, method by default, property false")
}

#[test]
fn a_plugin_of_a_newer_version_loads_into_this_host() {
    let current = transcript(KINDS.map(dylib)).unwrap();
    let newer = transcript(newer_files()).unwrap();
    // The newer solver asked this older host for what it does not have, and got the defaults, 7 and 5.
    assert_eq!(newer.matches(", (\"added\", 75)").count(), 2, "{newer}");
    assert_eq!(newer.replace(", (\"added\", 75)", ""), current);
    assert_eq!(Plugin::load(newer_files()[3]).ok().unwrap().description().api_version, "1.9999.0");
}

#[test]
fn a_plugin_of_this_version_loads_into_a_newer_host() {
    let (in_newer, additions) = in_newer_host(KINDS.map(dylib));
    assert_eq!(in_newer, transcript(KINDS.map(dylib)).unwrap());
    assert_eq!(additions, nothing_added());
}

#[test]
fn plugins_of_both_versions_work_together_in_a_newer_host() {
    let [benchmark, encoder, surrogate, _] = newer_files();
    let (_, additions) = in_newer_host([benchmark, encoder, surrogate, dylib("solver")]);
    assert_eq!(additions, nothing_added());
    let [benchmark, encoder, surrogate] = ["benchmark", "encoder", "surrogate"].map(dylib);
    let (transcript, additions) = in_newer_host([benchmark, encoder, surrogate, newer_files()[3]]);
    assert_eq!(additions, "api 1.9999.0: field Some(\"there\"), method by the plugin, property true");
    assert_eq!(transcript.matches(", (\"added\", 86)").count(), 2, "{transcript}");
}

#[test]
fn a_solver_of_the_version_without_states_loads_into_this_host_and_has_none() {
    let older = OLDER.build(&["solver"], &[]);
    let plugin = Plugin::load(&older["solver"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plugin.description().api_version, "1.0.0");
    // The fixture has a state; its version of the boundary has no way for it.
    let make = |plugin: &Plugin| plugin.solver(&json!({ "counts": true })).unwrap();
    let (mut current, mut solver) = (make(&crate::plugin("solver")), make(&plugin));
    assert_eq!((solver.save(), current.save()), (Ok(None), Ok(Some(vec![0; 8]))));
    assert_eq!(solver.restore(&[0; 8]).unwrap_err().to_string(), "this solver has no saved state");
    let problem = Problem::new(Quadratic::new(0.5, vec![1.0, 2.0], vec![-3.0]).unwrap());
    assert_eq!(solver.minimize(&problem, 3).unwrap(), current.minimize(&problem, 3).unwrap());
    assert!(solver.close().is_ok());
}
