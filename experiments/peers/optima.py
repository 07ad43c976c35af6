"""The optima of the max-sat instances, proven by CP-SAT, and how many runs of ours reach them.

    pip install ortools==9.15.6755
    python experiments/peers/optima.py FOLDER...       folders as `host run` writes them
"""

import csv
import pathlib
import statistics
import sys

from ortools.sat.python import cp_model
from problems import max_sat_clauses


def optimum(experiment, seed, variables=28, clauses=120):
    places, signs, weights = max_sat_clauses(seed, variables, clauses, experiment)
    model = cp_model.CpModel()
    x = [model.new_bool_var(f"x{i}") for i in range(variables)]
    total = []
    # Whole numbers in the order of the standardised weights: the number of clauses times (w − mean).
    for place, sign, weight in zip(places, signs, clauses * weights - weights.sum()):
        satisfied = model.new_bool_var("")
        literals = [x[i] if positive else ~x[i] for i, positive in zip(place, sign)]
        model.add_bool_or([*literals, ~satisfied])
        for literal in literals:
            model.add_implication(literal, satisfied)
        total.append(int(weight) * satisfied)
    model.maximize(sum(total))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if solver.solve(model) != cp_model.OPTIMAL:
        sys.exit(f"no proof for seed {seed}")
    return -solver.objective_value / clauses / float(weights.std())


def main():
    known = {}
    for folder in map(pathlib.Path, sys.argv[1:]):
        last = {}
        with (folder / "trace.csv").open() as file:
            for row in csv.DictReader(file):
                last[row["trial"]] = row
        reached, optima = {}, []
        for row in last.values():
            key = folder.parent.name, int(row["seed"])
            known.setdefault(key, optimum(*key))
            optima.append(known[key])
            reached.setdefault(row["method"], []).append(float(row["best"]) - known[key] < 1e-9)
        print(f"{folder}: the optima have the mean {statistics.mean(optima):.4f}")
        for method, ends in reached.items():
            print(f"  {method}: {sum(ends)} of {len(ends)} runs end there")


if __name__ == "__main__":
    main()
