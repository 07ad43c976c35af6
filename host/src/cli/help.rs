//! What `--help` adds: examples, formats, exit codes.

pub(super) const EXAMPLES: &str = "\
Examples:
  host run experiments/ising.yaml                      run it, and see which method found what
  host run experiments/ising.yaml --solver annealing   the same with another solver
  host run experiments/ising.yaml --set penalty.l1=0.01
  host plan experiments/ising.yaml                     every check, and the trials; nothing is run
  host report results/ising/first results/ising/second two runs beside each other
  host solve problem.json --solver psr --solver sdp    one problem, several solvers
  host plugins describe psr                            what a plugin does, its options and defaults

Exit codes: 0 done, 1 a trial failed or the run was stopped, 2 the request was wrong.";

pub(super) const ASK_HELP: &str = "\
Examples:
  host ask lab.yaml                             the first point; the run is results/NAME/lab
  host ask results/NAME/lab -n 4                the next four
  host ask results/NAME/lab -n 4 --format csv > todo.csv

Exit codes: 0 done, 1 fewer points are left than were asked for, 2 the request was wrong.";

pub(super) const TELL_HELP: &str = "\
Examples:
  host tell results/NAME/lab 4=0.71 5=infeasible 6='failed: spilt'
  host tell results/NAME/lab todo.csv           what has no value yet stays under way
  host tell results/NAME/lab --point solvent=water,dose=1 --value 0.5
  echo '{\"evaluation\": 4, \"value\": 0.71}' | host tell results/NAME/lab -

Exit codes: 0 done, 2 the request was wrong, and nothing was recorded.";

pub(super) const SCHEMA_HELP: &str = "\
For an editor with a YAML language server:
  host schema > experiments/manifest.schema.json
and as the first line of a manifest:
  # yaml-language-server: $schema=manifest.schema.json";

pub(super) const MERGE_HELP: &str = "\
Examples:
  host run study.yaml --shard 1/2 --run-id one                 on one machine
  host run study.yaml --shard 2/2 --run-id two                 on another
  host merge results/study/one results/study/two -o results/study/all
  host run --resume results/study/all                          runs what is missing

Exit codes: 0 done, also where trials are missing; 1 stopped or not written; 2 the folders cannot be
united: different plans or programs, different journals of a trial, a journal that was changed.";

pub(super) const REPORT_HELP: &str = "\
What is written:
  report.html    everything on one page that needs no network: opens in any browser
  figures/       each figure as SVG and PNG, for a paper or a talk
  best.json      the best point of each method, in the objective's own names
  summary.json   what each method found, methods against each other, solvers by dimension
  trace.csv      every evaluation (for a single run)
  afo.csv        every acquisition function and its answers (for a single run)

Examples:
  host report results/ising/2026-11-16T12-00-00Z
  host report results/ising/before results/ising/after --output comparison";

pub(super) const EXPORT_HELP: &str = "\
Two files: `trace`, a row for each evaluation, and `afo`, a row for each solver's answer to each
acquisition function. The columns are listed in host/REPORT.md.

Examples:
  host export results/ising/first --format parquet
  host export results/ising/first --format csv --output tables";

pub(super) const NEW_HELP: &str = "\
Examples:
  host plugins new benchmark knapsack                  in Rust
  host plugins new benchmark knapsack --lang python    a decorated function
  host plugins new solver my-own --lang c --path ~/plugins
The commands to go on with are printed.";

pub(super) const INSTALL_HELP: &str = "\
Examples:
  cargo build --release && host plugins install target/release    all plugins of a checkout
  host plugins install libbenchmark_knapsack.so                   one of your own";

pub(super) const CHECK_HELP: &str = "\
Examples:
  host plugins check target/release/libbenchmark_knapsack.so
  host plugins check psr
  host plugins check 'command[run=[./objective.py]]'";

pub(super) const COMPLETIONS_HELP: &str = "\
Where shells look for them:
  host completions bash > ~/.local/share/bash-completion/completions/host
  host completions zsh > ~/.zfunc/_host          # with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  host completions fish > ~/.config/fish/completions/host.fish";

pub(super) const SOLVE_HELP: &str = "\
Formats, by the extension of a file:
  .json    {\"n\": 3, \"constant\": 0, \"linear\": [1, 2, 3], \"pairs\": [12, 13, 23]}
           Pairs are the upper triangle by rows; `n` and `constant` may be left out.
           Or a binary quadratic model as dimod writes it (`to_serializable`).
  .sparse  Biq Mac: a line `n m`, then m lines `i j w`.
           Indices are from 1, and off the diagonal w counts twice.
  .qubo    qbsolv: a line `p qubo 0 maxNodes nNodes nCouplers`, then lines `i i w` and `i j w`.
           Indices are from 0, and w counts once.
  .coo     dimod: lines `i j bias`, after `# vartype=SPIN` where they are for spins.
           Indices are from 0, and the bias counts once.

All are minimized. A bit is set where a spin is 1.

The value is that of the answer, computed again. No point is lower than the bound, which the solver
proved. The gap is (value - bound) / max(|value|, |bound|): at 0 the answer is optimal.

With --json, each line has file, solver, n, value, bound, gap, seconds, bits and counts; `stop`
where a limit ended the search; `error`, and null for the value, where the solver failed.

Examples:
  host solve problem.json                                    value, bound and gap
  host solve be100.*.sparse --solver psr --solver annealing  compare solvers
  host solve - --solver 'psr[steps=10,polish=none]' --json   a problem from a pipe, as JSON

Exit codes: 0 done, 1 a solver failed, 2 the request was wrong: nothing was solved.";
