"""Tables of what the peers reached, and of what we did beside them.

    table.py                               the peers
    table.py FOLDER...                     and the runs in these folders, as `host run` writes them
"""

import argparse
import collections
import csv
import json
import pathlib
import statistics

from problems import PROBLEMS
from run import RESULTS

# The original of each of our methods.
ORIGINALS = {
    "forest": "smac",
    "forest-2.3": "smac-2.3",
    "forest-annealing": "smac",
    "tpe": "optuna",
    "tpe-repeats": "optuna",
}


def peers():
    """Best values by peer and problem; processor seconds a suggestion; versions."""
    best, seconds, versions = collections.defaultdict(list), collections.defaultdict(list), {}
    for line in map(json.loads, RESULTS.read_text().splitlines()):
        key = line["peer"], line["problem"]
        best[key].append(line["best"])
        seconds[key].append(line["seconds_per_suggestion"])
        versions[line["peer"]] = line["version"]
    return best, seconds, versions


def ours(folders):
    """Best values by method and problem, minimised."""
    best = collections.defaultdict(list)
    for folder in folders:
        last = {}
        with (folder / "trace.csv").open() as file:
            for row in csv.DictReader(file):
                last[row["trial"]] = row
        for row in last.values():
            problem = folder.parent.name
            # Of these, the benchmarks maximise two.
            sign = -1 if problem in ("bqp", "labs") else 1
            best[row["method"], problem].append(sign * float(row["best"]))
    return best


def mean_and_error(values):
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return statistics.mean(values), error


def cell(values):
    if not values:
        return ""
    mean, error = mean_and_error(values)
    return f"{mean:.4f} ± {error:.4f} ({len(values)})"


def row(cells):
    print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    theirs, seconds, versions = peers()
    mine = ours(arguments.folders)
    row(["mean ± standard error (seeds)", *PROBLEMS])
    row(["---"] * (1 + len(PROBLEMS)))
    for peer, version in sorted(versions.items()):
        row([f"{peer.removesuffix('-2.3')} {version or ''}".strip(), *(cell(theirs[peer, problem]) for problem in PROBLEMS)])
    for method in sorted({method for method, _ in mine}):
        row([f"our {method}", *(cell(mine[method, problem]) for problem in PROBLEMS)])
    print()
    row(["seconds a suggestion", *PROBLEMS])
    row(["---"] * (1 + len(PROBLEMS)))
    for peer in sorted(versions):
        times = (seconds[peer, problem] for problem in PROBLEMS)
        row([peer, *(f"{statistics.mean(each):.4f}" if each else "" for each in times)])
    print()
    row(["difference in its standard errors", *PROBLEMS])
    row(["---"] * (1 + len(PROBLEMS)))
    for method in sorted({method for method, _ in mine}):
        original = ORIGINALS[method]
        cells = []
        for problem in PROBLEMS:
            one, two = mine[method, problem], theirs[original, problem]
            if min(len(one), len(two)) < 2:
                cells.append("")
                continue
            (a, error), (b, other) = mean_and_error(one), mean_and_error(two)
            cells.append(f"{a - b:+.4f} = {(a - b) / (error**2 + other**2) ** 0.5:+.2f}")
        row([f"our {method} − {original}", *cells])


if __name__ == "__main__":
    main()
