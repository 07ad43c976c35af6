"""The four problems of the comparison: all minimised, over points of 0 and 1, with the penalty in the value.

The instances are the last ones of the benchmarks' own test data, so that every program sees the same numbers. Run as a
script, this module checks its values against those beside the instances.
"""

import dataclasses
import json
import pathlib
from collections.abc import Callable

import numpy

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "plugins" / "benchmarks"


@dataclasses.dataclass
class Problem:
    name: str
    bits: int
    # Evaluations, random initial ones included.
    budget: int
    # λ, the penalty for each bit set.
    l1: float
    # What the objective itself says of a point, without penalty: low is good.
    bare: Callable
    # The benchmark with its options, as a manifest has it.
    benchmark: dict
    # Points with known bare values, for the check.
    known: list
    initial: int = 20

    def __call__(self, x):
        return float(self.bare(numpy.asarray(x)) + self.l1 * sum(x))


def data(name):
    path = BENCHMARKS / name / "tests" / "data" / f"{name}.json"
    return json.loads(path.read_text())


def points(texts):
    return [[int(letter in "1+") for letter in text] for text in texts]


def bqp():
    case = data("bqp")[-1]
    kernel = next(kernel for kernel in case["kernels"] if kernel["kernel"] == "paper")
    matrix = numpy.array(kernel["matrix"])
    options = {"n": case["n"], "matrix": kernel["matrix"]}
    known = [(x, -value) for x, value in zip(points(case["x"]), kernel["value"])]
    return Problem("bqp", case["n"], 120, 1e-3, lambda x: -(x @ matrix @ x), {"use": "bqp", "options": options}, known)


def labs():
    n = 30

    def merit(x):
        s = 2 * x - 1
        energy = sum(int(s[k:] @ s[: len(s) - k]) ** 2 for k in range(1, len(s)))
        return -(len(s) ** 2) / energy

    case = data("labs")["cases"][-1]
    known = [(x, -value) for x, value in zip(points(case["s"]), case["merit_factor"])]
    return Problem("labs", n, 170, 0.0, merit, {"use": "labs", "options": {"n": n}}, known)


def ising():
    case = data("ising")[-1]
    cells = case["rows"] * case["columns"]
    couplings = 2 * numpy.array(case["couplings"])
    spins = 1.0 - 2.0 * ((numpy.arange(2**cells)[:, None] >> numpy.arange(cells)) & 1)
    products = numpy.stack([spins[:, i] * spins[:, j] for i, j in case["edges"]], axis=1)

    def log_sum(energies):
        largest = energies.max()
        return largest + numpy.log(numpy.exp(energies - largest).sum())

    whole = products @ couplings
    log_z = log_sum(whole)
    moments = numpy.exp(whole - log_z) @ products

    def divergence(x):
        kept = couplings * x
        return max((couplings - kept) @ moments + log_sum(products @ kept) - log_z, 0.0)

    options = {"rows": case["rows"], "columns": case["columns"], "exponent": "double", "couplings": case["couplings"]}
    values = next(one["value"] for one in case["exponents"] if one["exponent"] == "double")
    known = list(zip(points(case["x"]), values))
    return Problem("ising", len(couplings), 170, 1e-4, divergence, {"use": "ising", "options": options}, known)


def contamination():
    case = data("contamination")[-1]
    initial, spread, prevention = (numpy.array(case[key]) for key in ("initial", "spread", "prevention"))

    def cost(x):
        contaminated, violations = initial, 0
        for stage, prevent in enumerate(x):
            if prevent:
                contaminated = (1 - prevention[stage]) * contaminated
            else:
                contaminated = spread[stage] * (1 - contaminated) + contaminated
            violations += int((contaminated > 0.1).sum())
        return sum(x) + violations / len(initial)

    rates = {key: case[key] for key in ("initial", "spread", "prevention")}
    benchmark = {"use": "contamination", "options": {"stages": case["stages"], "rates": rates}}
    known = list(zip(points(case["x"]), case["paper"]))
    return Problem("contamination", case["stages"], 270, 1e-2, cost, benchmark, known)


PROBLEMS = {"bqp": bqp, "labs": labs, "ising": ising, "contamination": contamination}


def check():
    for make in PROBLEMS.values():
        problem = make()
        worst = max(abs(problem.bare(numpy.array(x)) - value) for x, value in problem.known)
        print(f"{problem.name}: {len(problem.known)} known values, the largest difference is {worst:.1e}")
        assert worst < 1e-9


if __name__ == "__main__":
    check()
