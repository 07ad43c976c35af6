"""Runs a peer on problems, seed by seed, and appends a JSON line for each to a file. What is there already is not run again."""

import os

# Before anything that starts threads is imported: times are of one processor.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ[name] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import time  # noqa: E402

from peers import PEERS, version  # noqa: E402
from problems import PROBLEMS  # noqa: E402

RESULTS = pathlib.Path(__file__).parent / "results.jsonl"


class Objective:
    """A problem that remembers what it was asked, and how much processor time passed between the questions."""

    def __init__(self, problem):
        self.problem = problem
        self.points, self.values, self.seconds = [], [], []
        self.seen = set()
        # Where the points are from, if a peer says so.
        self.origins = None
        self.since = time.process_time()

    def __call__(self, x):
        self.seconds.append(time.process_time() - self.since)
        value = self.problem(x)
        self.points.append(tuple(x))
        self.seen.add(tuple(x))
        self.values.append(value)
        self.since = time.process_time()
        return value


def seeds(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seeds", type=seeds, default=seeds("1-20"), help="like 1-20")
    parser.add_argument("--relabel", action="store_true", help="permute the levels of each variable by the seed")
    parser.add_argument("--initial", type=int, help="random points before the first proposal; to measure time with much data")
    parser.add_argument("--until", type=float, default=float("inf"), help="start no run after these minutes")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.initial and arguments.results == RESULTS:
        parser.error("results with other initial points go to a file of their own: --results FILE")
    if arguments.peer in ("smac", "smac-2.3") and version("smac").startswith("2.3") != (arguments.peer == "smac-2.3"):
        parser.error(f"this environment has SMAC {version('smac')}")
    lines = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    done = {(r["peer"], r["problem"], r["seed"], r.get("relabel", False)) for r in map(json.loads, lines)}
    started = time.monotonic()
    for seed in arguments.seeds:
        for name in arguments.problems:
            late = time.monotonic() - started > 60 * arguments.until
            if late or (arguments.peer, name, seed, arguments.relabel) in done:
                continue
            problem = PROBLEMS[name](seed)
            if arguments.relabel:
                problem = problem.relabelled(seed)
            problem.initial = arguments.initial or problem.initial
            objective, error = Objective(problem), None
            try:
                size = problem.variables, problem.levels
                PEERS[arguments.peer](objective, *size, problem.initial, problem.budget, seed)
            except Exception as caught:  # A run that ends early has a result, too.
                error = f"{type(caught).__name__}: {caught}"
            searching = objective.seconds[problem.initial :]
            result = {
                "peer": arguments.peer,
                "version": version(arguments.peer),
                "problem": name,
                "seed": seed,
                "best": min(objective.values),
                "evaluations": len(objective.values),
                "distinct": len(set(objective.points)),
                "seconds_per_suggestion": round(sum(searching) / max(len(searching), 1), 6),
            }
            if arguments.relabel:
                result["relabel"] = True
            if arguments.initial:
                result["initial"] = problem.initial
            if objective.origins:
                result["origins"] = objective.origins
            if error:
                result["error"] = error
            print(json.dumps(result), flush=True)
            with arguments.results.open("a") as file:
                file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
