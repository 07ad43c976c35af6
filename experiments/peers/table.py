"""Tables of what the peers reached, and of what we did beside them.

    table.py                               the peers
    table.py FOLDER...                     and the runs in these folders, as `host run` writes them
    table.py --originals FOLDER...         our versions of peers' methods beside their originals, all seeds

Lower is better in every table. Seeds are 1 to 20 but for `--originals`.
"""

import argparse
import collections
import csv
import json
import math
import pathlib
import statistics

from problems import PROBLEMS, SIGNS
from run import RESULTS

# The original of each of our methods.
ORIGINALS = {
    "forest": "smac",
    "forest-2.3": "smac-2.3",
    "forest-annealing": "smac",
    "tpe": "optuna",
    "tpe-repeats": "optuna",
}
# In the order of the tables. SMAC 2.3 ends runs early, and the variant of Optuna is a step towards our `tpe`.
PEERS = {
    "random": "random search",
    "nevergrad": "nevergrad",
    "hyperopt": "hyperopt",
    "optuna": "Optuna",
    "smac": "SMAC",
    "ax": "Ax",
}
DECIMALS = {"bqp": 2, "labs": 2, "ising": 4, "contamination": 3, "pest-control": 2, "max-sat": 2}
# Where each seed has an instance of its own, runs of the same seed are compared with each other.
PAIRED = {"max-sat"}
SEEDS = range(1, 21)


def peers(results):
    """Best values by (peer, problem, relabelled) and seed; processor seconds a suggestion; versions."""
    best, seconds, versions = collections.defaultdict(dict), collections.defaultdict(list), {}
    for line in map(json.loads, results.read_text().splitlines()):
        key = line["peer"], line["problem"], line.get("relabel", False)
        best[key][line["seed"]] = line["best"]
        seconds[line["peer"], line["problem"]].append(line["seconds_per_suggestion"])
        versions[line["peer"]] = line["version"] or ""
    return best, seconds, versions


def ours(folders):
    """Best values by (method, problem, relabelled) and seed, minimised."""
    best = collections.defaultdict(dict)
    for folder in folders:
        problem, last = folder.parent.name, {}
        relabelled = "relabel: true" in (folder / "plan.yaml").read_text().splitlines()
        with (folder / "trace.csv").open() as file:
            for row in csv.DictReader(file):
                last[row["trial"]] = row
        for row in last.values():
            value = SIGNS.get(problem, 1) * float(row["best"])
            best[row["method"], problem, relabelled][int(row["seed"])] = value
    return best


def mean_and_error(values):
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return statistics.mean(values), error


def number(value, problem, sign="-"):
    """As people write it: .0072, −11.30."""
    text = f"{value:{sign}.{DECIMALS[problem]}f}"
    return text.replace("-", "−").replace("0.", ".", 1) if abs(value) < 1 else text.replace("-", "−")


def cell(best, problem):
    if not best:
        return ""
    mean, error = mean_and_error(list(best.values()))
    seeds = "" if len(best) == len(SEEDS) else f" ({len(best)})"
    spread = f" ± {number(error, problem)}" if len(best) > 1 else ""
    return f"{number(mean, problem)}{spread}{seeds}"


def row(cells):
    """A line of the table, unless there is nothing in it."""
    if any(cells[1:]):
        print("| " + " | ".join(cells) + " |")


def head(words):
    row([words, *(f"`{problem}`" for problem in PROBLEMS)])
    row(["---"] * (1 + len(PROBLEMS)))


def compare(mine, theirs, problem):
    """The mean of ours − theirs, its standard error, and p of Wilcoxon's two-sided test of signed ranks or rank sums."""
    from scipy.stats import PermutationMethod, mannwhitneyu, wilcoxon

    # Equal values may be sums in another order, which differ in their last digits.
    if problem in PAIRED:
        differences = [round(mine[seed] - theirs[seed], 9) for seed in sorted(mine.keys() & theirs.keys())]
        return *mean_and_error(differences), wilcoxon(differences).pvalue if any(differences) else 1.0
    one, two = ([round(value, 9) for value in best.values()] for best in (mine, theirs))
    (a, error), (b, other) = mean_and_error(one), mean_and_error(two)
    # Of few runs, every way to deal them out; of more, the normal approximation, which ties need.
    ways = math.comb(len(one) + len(two), len(one))
    method = PermutationMethod(n_resamples=ways) if ways < 100_000 else "asymptotic"
    return a - b, (error**2 + other**2) ** 0.5, float(mannwhitneyu(one, two, method=method).pvalue)


def holm(p):
    """Corrected for their number: p by key."""
    corrected, most = {}, 0.0
    for rank, key in enumerate(sorted(p, key=p.get)):
        most = max(most, min(1.0, (len(p) - rank) * p[key]))
        corrected[key] = most
    return corrected


def chance(p):
    return "p < .001" if p < 0.001 else "p = 1" if p > 0.995 else f"p = {p:.2g}".replace("0.", ".", 1)


def first_seeds(best):
    kept = {key: {seed: value for seed, value in each.items() if seed in SEEDS} for key, each in best.items()}
    return collections.defaultdict(dict, kept)


def final_values(theirs, mine, versions):
    for relabelled in (False, True):
        head("levels relabelled" if relabelled else "levels as they are")
        for peer, name in PEERS.items():
            cells = [cell(theirs[peer, problem, relabelled], problem) for problem in PROBLEMS]
            row([f"{name} {versions.get(peer, '')}".strip(), *cells])
        for method in sorted({method for method, *_ in mine}):
            row([f"our {method}", *(cell(mine[method, problem, relabelled], problem) for problem in PROBLEMS)])
        print()


def differences(theirs, mine):
    """Our default less each peer, with p after Holm's correction for the whole table."""
    for relabelled in (False, True):
        found = {}
        for peer in PEERS:
            for problem in PROBLEMS:
                one, two = mine["default", problem, relabelled], theirs[peer, problem, relabelled]
                if min(len(one), len(two)) > 1:
                    found[peer, problem] = compare(one, two, problem)
        corrected = holm({key: p for key, (_, _, p) in found.items()})
        head("default − peer, " + ("levels relabelled" if relabelled else "levels as they are"))
        for peer, name in PEERS.items():
            cells = []
            for problem in PROBLEMS:
                if (peer, problem) not in found:
                    cells.append("")
                    continue
                mean, error, _ = found[peer, problem]
                p = corrected[peer, problem]
                cells.append(f"{number(mean, problem, '+')} ± {number(error, problem)}, {chance(p)}")
            row([name, *cells])
        print()


def relabelling(mine):
    """What relabelling changes for us: the difference in its standard errors."""
    head("relabelled − as they are")
    for method in sorted({method for method, *_ in mine}):
        cells = []
        for problem in PROBLEMS:
            one, two = mine[method, problem, True], mine[method, problem, False]
            if min(len(one), len(two)) < 2:
                cells.append("")
                continue
            mean, error, p = compare(one, two, problem)
            ratio = f"{mean / error:+.2f}".replace("-", "−") if error else "0"
            cells.append(f"{number(mean, problem, '+')} = {ratio} s.e., {chance(p)}")
        row([f"our {method}", *cells])
    print()


def times(seconds):
    head("processor seconds a suggestion")
    for peer, name in PEERS.items():
        if peer != "random":
            each = (seconds[peer, problem] for problem in PROBLEMS)
            row([name, *(f"{statistics.mean(one):.2g}".replace("0.", ".", 1) if one else "" for one in each)])


def originals(theirs, mine, versions):
    head("mean ± standard error (seeds)")
    pairs = [(method, ORIGINALS[method]) for method in sorted({method for method, *_ in mine}) if method in ORIGINALS]
    for peer in sorted({peer for _, peer in pairs}):
        row([f"{peer} {versions[peer]}", *(cell(theirs[peer, problem, False], problem) for problem in PROBLEMS)])
    for method, original in pairs:
        row([f"our {method}", *(cell(mine[method, problem, False], problem) for problem in PROBLEMS)])
        cells = []
        for problem in PROBLEMS:
            one, two = mine[method, problem, False], theirs[original, problem, False]
            if min(len(one), len(two)) < 2:
                cells.append("")
                continue
            mean, error, _ = compare(one, two, problem)
            cells.append(f"{mean / error:+.2f}".replace("-", "−"))
        row(["difference in its standard errors", *cells])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--originals", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    arguments = parser.parse_args()
    theirs, seconds, versions = peers(arguments.results)
    mine = ours(arguments.folders)
    if arguments.originals:
        originals(theirs, mine, versions)
        return
    theirs, mine = first_seeds(theirs), first_seeds(mine)
    final_values(theirs, mine, versions)
    if mine:
        differences(theirs, mine)
        relabelling(mine)
    times(seconds)


if __name__ == "__main__":
    main()
