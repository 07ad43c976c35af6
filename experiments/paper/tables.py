#!/usr/bin/env python3
"""Writes the tables of a page from the results of runs, so that no number on it is typed.

    python3 experiments/paper/tables.py RESULTS.md              # write them, and the plan hashes of the runs
    python3 experiments/paper/tables.py RESULTS.md --check      # say which differ from the results that are here

A page says `host run MANIFEST ... --run-id ID  # plan HASH` for each run, and has tables between two comments:
`<!-- KIND LABEL=NAME/ID ... -->` and `<!-- end -->`, where NAME/ID is a folder below the results. With --check, runs
that are not here are passed over, and so are times, which are no function of a plan. A figure of the page named
`figures/NAME-ID-FIGURE.svg` is that of the run. Python's standard library is all that is needed.
"""

import argparse
import csv
import json
import math
import pathlib
import re
import statistics
import sys

PAIRS = [
    ("psr-authors", "sdp-authors"),
    ("psr-authors", "sdp"),
    ("psr-authors", "certified"),
    ("sdp-authors", "sdp"),
    ("default", "psr-authors"),
    ("default", "certified"),
    ("default", "mercer"),
    ("default", "smac"),
    ("default", "combo"),
]
PSR, AUTHORS = "psr[steps=10,step=authors,polish=none]", "sdp[rounding=authors]"
SHORT = {PSR: "psr-authors", AUTHORS: "sdp-authors"}


class Run:
    """What a run's folder says."""

    def __init__(self, folder):
        self.folder = folder
        self.plan = json.loads((folder / "identity.json").read_text())["plan"]
        self.summary = json.loads((folder / "summary.json").read_text())
        self.seeds = min(method["trials"] for method in self.summary["methods"])
        planned = len(list(folder.glob("trials/*/trial.json")))
        self.missing = planned - sum(method["trials"] for method in self.summary["methods"])

    def rows(self, table):
        with open(self.folder / table, newline="") as file:
            yield from csv.DictReader(file)

    def points(self):
        """The methods of each point of the sweep, in the order of the manifest."""
        points = {}
        for method in self.summary["methods"]:
            points.setdefault(json.dumps(method["sweep"]), []).append(method)
        return list(points.values())

    def finals(self):
        """For each point of the sweep, method and seed: the values of the initial design, and the best of all."""
        finals = {}
        for row in self.rows("trace.csv"):
            of = finals.setdefault((point_of(row["trial"]), row["method"]), {}).setdefault(row["seed"], [[], None])
            if row["phase"] == "initial":
                of[0].append(row["value"])
            of[1] = float(row["best"])
        return finals


def point_of(trial):
    """Which point of the sweep a trial is of, from 0."""
    number = re.search(r"-sweep(\d+)-seed\d+$", trial)
    return int(number.group(1)) - 1 if number else 0


def signed_ranks(differences):
    """The p-value of Wilcoxon's signed-rank test, two-sided and exact, as `host report` computes it."""
    differences = sorted((d for d in differences if d), key=abs)
    if not differences:
        return 1.0
    doubled, start = [], 0
    while start < len(differences):
        end = start
        while end < len(differences) and abs(differences[end]) == abs(differences[start]):
            end += 1
        doubled += [start + end + 1] * (end - start)
        start = end
    ways = [1] + [0] * sum(doubled)
    for rank in doubled:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    positive = sum(rank for rank, d in zip(doubled, differences) if d > 0)
    lower = min(positive, sum(doubled) - positive)
    return min(1.0, 2 * sum(ways[: lower + 1]) / 2 ** len(doubled))


def compare(run, point, first, second, finals, other_point=None):
    """On how many seeds the first is better and worse, and the p-value, from trials with the same initial design."""
    one, other = finals[point, first], finals[point if other_point is None else other_point, second]
    of_point = run.points()[point][0]
    differences = []
    for seed in one:
        assert one[seed][0] == other[seed][0], f"{run.folder}: seed {seed} has two initial designs"
        difference = one[seed][1] - other[seed][1]
        size = max(abs(one[seed][1]), abs(other[seed][1]))
        differences.append(0.0 if abs(difference) <= 1e-12 * size else difference)
    p = signed_ranks(differences)
    for known in run.summary["comparisons"]:
        if (known["first"], known["second"]) == (first, second) and known["sweep"] == of_point["sweep"]:
            assert known["p"] is None or math.isclose(known["p"], p, rel_tol=1e-6), (known, p)
    better = sum(d > 0 if of_point["maximize"] else d < 0 for d in differences)
    return better, sum(d != 0 for d in differences) - better, p


def holm(ps):
    """The p-values, corrected for their number."""
    corrected, least = [0.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, ps[i] * (len(ps) - rank)))
        corrected[i] = least
    return corrected


def p_text(p):
    return f"p = {p:.1g}" if p >= 0.001 else "p = " + re.sub(r"e([+-])0*", r"e\1", f"{p:.0e}")


def decimals(error):
    """As many as show two digits of the error, five at the most."""
    return 3 if not error or math.isinf(error) else min(5, max(0, 1 - math.floor(math.log10(error))))


def point_label(sweep):
    """A point of a sweep in short."""
    names = {"penalty.l1": "λ = {}", "benchmark.options.alpha": "α = {}", "relabel": "{}"}
    words = []
    for key, value in sweep.items():
        options = value.get("options", value) if isinstance(value, dict) else {}
        if isinstance(value, dict) and "rows" in options:
            words.append((value.get("use", "") + f" {options['rows']}×{options['columns']}").strip())
        elif isinstance(value, dict):
            words.append(f"{value['use']} {options.get('n', options.get('stages'))}")
        elif key == "relabel":
            words.append("flipped" if value else "original")
        else:
            words.append(names.get(key, "n = {}").format(f"{value:g}"))
    return ", ".join(words)


def table(header, rows):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return [line(header), "| --- |" + " --: |" * (len(header) - 1)] + [line(row) for row in rows]


def best_of(methods):
    means = [method["final"]["mean"] for method in methods]
    return max(means) if methods[0]["maximize"] else min(means)


def value_cell(method, methods, interval):
    final = method["final"]
    digits = decimals(min(m["final"]["standard_error"] or math.inf for m in methods))
    digits = 3 if digits == 0 and not final["standard_error"] else digits
    text = f"{final['mean']:.{digits}f}"
    if math.isclose(final["mean"], best_of(methods), rel_tol=1e-9):
        text = f"**{text}**"
    if not interval:
        return text if final["standard_error"] is None else f"{text} ± {final['standard_error']:.{digits}f}"
    bounds = method["final_interval"]
    if bounds is None:
        return text
    return f"{text} [{bounds['low']:.{digits}f}, {bounds['high']:.{digits}f}]"


def values(runs):
    """Final values of runs without a sweep: methods are rows, runs are columns."""
    columns = [run.points()[0] for run in runs.values()]
    rows = []
    for i, method in enumerate(columns[0]):
        rows.append([f"`{method['method']}`"] + [value_cell(methods[i], methods, True) for methods in columns])
    return table([""] + [f"{label} ({run.seeds} seeds)" for label, run in runs.items()], rows)


def pairs(runs):
    """Pairs of methods, seed by seed: pairs are rows, runs are columns; p-values are corrected in each column."""
    columns = []
    for run in runs.values():
        finals = run.finals()
        found = [compare(run, 0, a, b, finals) for a, b in PAIRS]
        corrected = holm([p for _, _, p in found])
        columns.append([f"{better} : {worse}, {p_text(p)}" for (better, worse, _), p in zip(found, corrected)])
    rows = [[f"`{a}` against `{b}`"] + [column[i] for column in columns] for i, (a, b) in enumerate(PAIRS)]
    return table([""] + list(runs), rows)


def grid(runs):
    """Final values at each point of a sweep: points are rows, methods are columns."""
    lines = []
    for label, run in runs.items():
        points = run.points()
        rows = [[point_label(ms[0]["sweep"])] + [value_cell(m, ms, False) for m in ms] for ms in points]
        lines += table([f"{label} ({run.seeds} seeds)"] + [f"`{m['method']}`" for m in points[0]], rows)
    return lines


def contests(runs):
    """Pairs of methods at each point of a sweep: points are rows, pairs are columns.

    Bold is where p < 0.05 after the correction for the column.
    """
    chosen = [PAIRS[i] for i in (0, 1, 2, 5, 7, 8)]
    lines = []
    for label, run in runs.items():
        finals, points = run.finals(), run.points()
        rows = [[point_label(methods[0]["sweep"])] for methods in points]
        total = ["together"]
        for a, b in chosen:
            found = [compare(run, i, a, b, finals) for i in range(len(points))]
            corrected = holm([p for _, _, p in found])
            for row, (better, worse, _), p in zip(rows, found, corrected):
                row.append(f"**{better} : {worse}**" if p < 0.05 else f"{better} : {worse}")
            total.append(f"{sum(better for better, _, _ in found)} : {sum(worse for _, worse, _ in found)}")
        header = [f"{label} ({run.seeds} seeds)"] + [f"`{a}` against `{b}`" for a, b in chosen]
        lines += table(header, rows + [total])
    return lines


def answers(run):
    """The AF values of each problem, by solver."""
    problems = {}
    for row in run.rows("afo.csv"):
        if row["value"]:
            problem = problems.setdefault((row["trial"], row["iteration"]), {})
            problem[row["solver"]] = float(row["value"])
    return [problem for problem in problems.values() if len(problem) > 1]


def afo(runs):
    """AF values of the same problems, pair by pair: per cent lower, equal and higher."""
    contests = [(PSR, AUTHORS), (PSR, "sdp"), (PSR, "certified"), (AUTHORS, "certified"), ("sdp", "certified")]
    rows = [[f"`{SHORT.get(a, a)}` against `{SHORT.get(b, b)}`"] for a, b in contests]
    header = [""]
    for label, run in runs.items():
        problems = answers(run)
        header.append(f"{label} ({len(problems):,} problems)")
        for row, (a, b) in zip(rows, contests):
            differences = [p[a] - p[b] if not math.isclose(p[a], p[b], rel_tol=1e-9, abs_tol=1e-9) else 0 for p in problems]
            share = lambda test: f"{100 * sum(map(test, differences)) / len(differences):.0f}"
            row.append(f"{share(lambda d: d < 0)}, {share(lambda d: d == 0)}, {share(lambda d: d > 0)}")
    return table(header, rows)


def location(runs):
    """Final values with the objective's original bits and with flipped ones, and the methods against each other."""
    contests = [("psr-authors", "certified"), ("default", "certified"), ("default", "psr-authors")]
    rows = []
    for run in runs.values():
        finals, points = run.finals(), run.points()
        found = [[compare(run, i, a, b, finals) for a, b in contests] for i in range(len(points))]
        corrected = iter(holm([p for of_point in found for _, _, p in of_point]))
        for methods, of_point in zip(points, found):
            cells = [value_cell(method, methods, True) for method in methods]
            cells += [f"{better} : {worse}, {p_text(next(corrected))}" for better, worse, _ in of_point]
            rows.append([point_label(methods[0]["sweep"])] + cells)
    header = ["objective, bits"] + [f"`{method['method']}`" for method in points[0]]
    return table(header + [f"`{a}` against `{b}`" for a, b in contests], rows)


def moved(runs):
    """Each method with the objective's original bits against the same method with flipped ones."""
    rows = []
    for run in runs.values():
        finals, points = run.finals(), run.points()
        methods = [method["method"] for method in points[0]]
        original = [i for i, of_point in enumerate(points) if not of_point[0]["sweep"]["relabel"]]
        place = lambda i: {key: value for key, value in points[i][0]["sweep"].items() if key != "relabel"}
        for i in original:
            flipped = next(j for j in range(len(points)) if j not in original and place(j) == place(i))
            rows.append([point_label(place(i))] + [compare(run, i, m, m, finals, flipped) for m in methods])
    corrected = iter(holm([p for row in rows for _, _, p in row[1:]]))
    for row in rows:
        row[1:] = [f"{better} : {worse}, {p_text(next(corrected))}" for better, worse, _ in row[1:]]
    return table(["original bits better : worse than flipped ones"] + [f"`{method}`" for method in methods], rows)


def seen_bits(journal):
    """The share of bits set in the answers to each problem, by solver; then the best total and the share at its point.

    All as models and solvers see them: a bit that is flipped for them is told by an answer and the point made of it.
    """
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    problems, flipped, best = [], None, None
    for event, following in zip(events, events[1:]):
        if event["event"] == "proposed":
            answers = {answer["solver"].split("[")[0]: answer["bits"] for answer in event["answers"]}
            problems.append({solver: bits.count("1") / len(bits) for solver, bits in answers.items()})
            if flipped is None and event["choice"] == "answer":
                bits = event["answers"][0]["bits"]
                flipped = [int(bit) != level for bit, level in zip(bits, following["point"])]
        elif event["event"] == "evaluating" and following["total"] == following["best"]:
            best = following["best"], event["point"]
    total, point = best
    return problems, total, sum(level != turn for level, turn in zip(point, flipped)) / len(point)


def bits(runs):
    """What the answers of PSR and the minima of the same problems look like, and the best points that any method found."""
    agree, uniform = (lambda share: max(share, 1 - share)), (lambda share: max(share, 1 - share) >= 0.85)
    rows = []
    for run in runs.values():
        problems, best = {}, {}
        for journal in sorted(run.folder.glob("trials/*/journal.jsonl")):
            trial, point = journal.parent.name, point_of(journal.parent.name)
            asked, total, share = seen_bits(journal)
            problems.setdefault(point, []).extend(answers for answers in asked if len(answers) > 1)
            sign = -1 if run.points()[point][0]["maximize"] else 1
            of_seed = best.setdefault(point, {})
            seed = trial.rsplit("-seed")[-1]
            of_seed[seed] = min(of_seed.get(seed, (math.inf, 0)), (sign * total, share))
        for point, methods in enumerate(run.points()):
            asked, found = problems[point], [share for _, share in best[point].values()]
            cells = [point_label(methods[0]["sweep"]), f"{len(asked):,}"]
            for f in (lambda share: share, agree, uniform):
                for shares in ([a["psr"] for a in asked], [a["certified"] for a in asked], found):
                    cells.append(f"{100 * statistics.fmean(map(f, shares)):.0f} %")
            rows.append(cells)
    header = ["objective, bits", "problems"]
    for what in ("bits set", "bits like most", "near-uniform"):
        header += [f"{what}: PSR", "minima", "best points"]
    return table(header, rows)


def traps(runs):
    """Of instances of which the first run has all points: how many local optima, and where the methods of the second run ended."""
    every, other = runs.values()
    values = {}
    for row in every.rows("trace.csv"):
        levels = tuple(row[column] for column in row if column.startswith("x."))
        values.setdefault(row["seed"], {})[levels] = float(row["total"])
    finals = other.finals()
    methods = [method["method"] for method in other.points()[0]]
    # Of each instance: bits between its two best local optima, points better than the second, and where each method ended.
    groups = {}
    for seed, of_point in values.items():
        both = sorted(set().union(*of_point))
        turned = lambda point, i: (*point[:i], both[point[i] == both[0]], *point[i + 1 :])
        assert len(of_point) == len(both) ** len(next(iter(of_point))), f"{every.folder}: seed {seed} lacks points"
        lowest = lambda point: all(of_point[turned(point, i)] > of_point[point] for i in range(len(point)))
        optima = sorted((value, point) for point, value in of_point.items() if lowest(point))
        apart = better = None
        if len(optima) > 1:
            apart = sum(a != b for a, b in zip(optima[0][1], optima[1][1]))
            better = sum(value < optima[1][0] for value in of_point.values())
        places = {}
        for method in methods:
            at = [math.isclose(finals[0, method][seed][1], value, rel_tol=1e-9, abs_tol=1e-12) for value, _ in optima[:2]]
            places[method] = at.index(True) if True in at else 2
        groups.setdefault(str(len(optima)) if len(optima) < 3 else "3 or more", []).append((apart, better, places))
    groups = dict(sorted(groups.items()))
    middle = lambda of, i: f"{statistics.median(entry[i] for entry in of):g}" if of[0][i] is not None else "–"
    rows = [
        ["bits between the best two (median)"] + [middle(of, 0) for of in groups.values()],
        ["points better than the second (median)"] + [middle(of, 1) for of in groups.values()],
    ]
    few = lambda of: sum(2 * list(places.values()).count(0) < len(methods) for _, _, places in of)
    rows.append(["instances whose best point fewer than half of the methods found"] + [str(few(of)) for of in groups.values()])
    for method in methods:
        count = lambda of, place: str(sum(entry[2][method] == place for entry in of))
        seconds = lambda label, of: count(of, 1) if label != "1" else "–"
        rows.append([f"`{method}`"] + [f"{count(of, 0)}, {seconds(label, of)}, {count(of, 2)}" for label, of in groups.items()])
    names = [f"{label} local optim{'um' if label == '1' else 'a'} ({len(of)} instances)" for label, of in groups.items()]
    return table(["ended at the best, the second, elsewhere"] + names, rows)


def times(runs):
    """Medians of a draw and of AFO by each solver, by dimension; a mean would have what else the machine did in it."""
    lines = []
    for run in runs.values():
        drawing, solving = {}, {}
        for row in run.rows("afo.csv"):
            solving.setdefault(row["solver"], {}).setdefault(int(row["n"]), []).append(float(row["seconds"]))
        for timing in sorted(run.folder.glob("trials/*/timing.jsonl")):
            n = run.points()[point_of(timing.parent.name)][0]["bits"]
            steps = (json.loads(line) for line in timing.read_text().splitlines())
            drawing.setdefault(n, []).extend(step["seconds"] for step in steps if step["step"] == "fit")
        cell = lambda seconds: f"{1000 * statistics.median(seconds):.2g} ms"
        rows = [[str(n), cell(drawing[n])] + [cell(of[n]) for of in solving.values()] for n in sorted(drawing)]
        lines += table(["n", "a draw"] + [f"`{SHORT.get(solver, solver)}`" for solver in solving], rows)
    return lines


def af_values(runs):
    """PSR's AF values against the others', by dimension: lower, equal, higher."""
    for run in runs.values():
        methods = run.summary["methods"]
        names = [f"against `{SHORT.get(s['solver'], s['solver'])}`" for s in methods[0]["shadows"]]
        rows = []
        for method in methods:
            counts = [f"{s['lower']}, {s['equal']}, {s['higher']}" for s in method["shadows"]]
            rows.append([str(method["bits"]), str(method["shadows"][0]["problems"])] + counts)
        return table(["n", "problems"] + names, rows)


KINDS = {
    "values": values, "pairs": pairs, "grid": grid, "contests": contests, "afo": afo, "location": location, "moved": moved,
    "bits": bits, "traps": traps, "times": times, "af-values": af_values,
}
TABLE = re.compile(r"(<!-- ([a-z-]+) (\S.*?) -->\n)(.*?)(<!-- end -->)", re.S)
FIGURE = re.compile(r"!\[[^]]+\]\(((?:[^)]*/)?figures/(paper-[a-z]+)-([a-z]+)-([a-z0-9-]+\.svg))\)")
COMMAND = re.compile(r"^(host run (\S+)(?=.* --run-id (\S+)).*?  # plan )([0-9a-f]{16}|-)(.*)$", re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, default="results", help="where runs are [results]")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where something differs")
    arguments = parser.parse_args()
    page = arguments.page.read_text()
    loaded, differing, seen = {}, [], 0

    def run_of(name):
        if name not in loaded:
            here = (arguments.results / name / "summary.json").exists()
            run = loaded[name] = Run(arguments.results / name) if here else None
            if run is not None and run.missing:
                print(f"passed over: {name}, {run.missing} of its trials are not finished", file=sys.stderr)
                loaded[name] = None
        return loaded[name]

    def fill(match):
        nonlocal seen
        opening, kind, words, before, closing = match.groups()
        runs = {label.replace("_", " "): run_of(name) for label, name in (w.split("=") for w in words.split())}
        if None in runs.values() or (arguments.check and kind == "times"):
            return match.group(0)
        after = "\n" + "\n".join(KINDS[kind](runs)) + "\n\n"
        seen += 1
        if after != before:
            differing.append(f"{kind} {words}")
        return opening + after + closing

    def plan(match):
        nonlocal seen
        before, manifest, run_id, hash_before, rest = match.groups()
        name = re.search(r"^name: (\S+)$", pathlib.Path(manifest).read_text(), re.M).group(1)
        run = run_of(f"{name}/{run_id}")
        if run is None:
            return match.group(0)
        seen += 1
        if run.plan[:16] != hash_before:
            differing.append(f"the plan of {name}/{run_id}")
        return before + run.plan[:16] + rest

    page = COMMAND.sub(plan, TABLE.sub(fill, page))
    for path, name, run_id, figure in FIGURE.findall(page):
        theirs = arguments.results / name / run_id / "figures" / figure
        ours = arguments.page.parent / path
        if theirs.exists():
            seen += 1
            if not ours.exists() or ours.read_bytes() != theirs.read_bytes():
                differing.append(path)
                if not arguments.check:
                    ours.parent.mkdir(parents=True, exist_ok=True)
                    ours.write_bytes(theirs.read_bytes())
    if seen == 0:
        sys.exit(f"no run that {arguments.page} names is in {arguments.results}")
    if not arguments.check:
        arguments.page.write_text(page)
    verb = "differs" if arguments.check else "written"
    for what in differing:
        print(f"{verb}: {what}")
    print(f"{seen} tables, plans and figures looked at, {len(differing)} {verb}")
    sys.exit(1 if arguments.check and differing else 0)


if __name__ == "__main__":
    main()
