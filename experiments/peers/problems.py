"""The six problems of the comparison: all minimised, over variables with levels 0, 1, …, with the penalty in the value.

The instances are those of `experiments/models`, so that every program sees the same numbers: the last ones of the
benchmarks' own test data, or drawn as the benchmark draws them. Run as a script, this module checks its values against
those of the test data, and against every evaluation in the folders named, as `host run` writes them.
"""

import csv
import dataclasses
import functools
import hashlib
import json
import pathlib
import sys
from collections.abc import Callable

import numpy

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "plugins" / "benchmarks"


@dataclasses.dataclass
class Problem:
    name: str
    variables: int
    # Evaluations, random initial ones included.
    budget: int
    # λ, the penalty for each variable that is not at its first level.
    l1: float
    # What the objective itself says of a point, without penalty: low is good.
    bare: Callable
    # The benchmark with its options, as a manifest has it.
    benchmark: dict
    # Points, or functions without arguments, with known bare values, for the check.
    known: list
    initial: int = 20
    levels: int = 2
    # For each variable, the level that each of its names stands for: see `relabelled`.
    meaning: numpy.ndarray | None = None

    def __call__(self, x):
        x = numpy.asarray(x)
        if self.meaning is not None:
            x = self.meaning[numpy.arange(self.variables), x]
        return float(self.bare(x) + self.l1 * numpy.count_nonzero(x))

    def relabelled(self, seed):
        """The same problem, whose levels have other names: an optimum lies in no convenient corner."""
        generator = numpy.random.default_rng([seed, 8])
        meaning = [generator.permutation(self.levels) for _ in range(self.variables)]
        return dataclasses.replace(self, meaning=numpy.array(meaning))


def data(name):
    path = BENCHMARKS / name / "tests" / "data" / f"{name}.json"
    return json.loads(path.read_text())


def points(texts):
    return [[int(letter in "1+") for letter in text] for text in texts]


def bqp(seed):
    case = data("bqp")[-1]
    kernel = next(kernel for kernel in case["kernels"] if kernel["kernel"] == "paper")
    matrix = numpy.array(kernel["matrix"])
    options = {"n": case["n"], "matrix": kernel["matrix"]}
    known = [(x, -value) for x, value in zip(points(case["x"]), kernel["value"])]
    return Problem("bqp", case["n"], 120, 1e-3, lambda x: -(x @ matrix @ x), {"use": "bqp", "options": options}, known)


def labs(seed):
    n = 30

    def merit(x):
        s = 2 * x - 1
        energy = sum(int(s[k:] @ s[: len(s) - k]) ** 2 for k in range(1, len(s)))
        return -(len(s) ** 2) / energy

    case = data("labs")["cases"][-1]
    known = [(x, -value) for x, value in zip(points(case["s"]), case["merit_factor"])]
    return Problem("labs", n, 170, 0.0, merit, {"use": "labs", "options": {"n": n}}, known)


def ising(seed):
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


def contamination(seed):
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


class Xoshiro:
    """Xoshiro256++ seeded by SplitMix64, with the draws of `plugin_api::random` and of the crate rand."""

    def __init__(self, seed):
        self.state = []
        for i in range(1, 5):
            z = (seed + i * 0x9E3779B97F4A7C15) % 2**64
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
            self.state.append(z ^ z >> 31)

    def word(self):
        s = self.state
        drawn = (turned((s[0] + s[3]) % 2**64, 23) + s[0]) % 2**64
        shifted = s[1] << 17 & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = turned(s[3], 45)
        return drawn

    def open_uniform(self):
        return ((self.word() >> 12) + 0.5) / 2**52

    def boolean(self):
        return self.word() >> 63 == 1

    def below(self, count):
        """A whole number from 0 to `count` − 1, by Canon's method on 32 bits."""
        high, low = divmod((self.word() >> 32) * count, 2**32)
        if low > 2**32 - count:
            high += low + ((self.word() >> 32) * count >> 32) >= 2**32
        return high


WORD = 2**64 - 1


def turned(x, by):
    return (x << by | x >> 64 - by) & WORD


# Price, discount, resistance and tolerance of each pesticide, as in the benchmark.
PESTICIDES = [
    (1.0, 0.2, 2 / 7, 1 / 7),
    (0.8, 0.3, 3 / 7, 2.5 / 7),
    (0.7, 0.3, 3 / 7, 2 / 7),
    (0.5, 0.0, 5 / 7, 0.5 / 7),
]


def pest_control_cost(uniforms, x, limit=0.1):
    """The price of the pesticides, plus the share of fields above the limit before each stage."""

    def beta(u, b):
        return 1 - (1 - u) ** (1 / b)

    resistances = [pesticide[2] for pesticide in PESTICIDES]
    infested = beta(uniforms["initial"], 30)
    price, violations = 0.0, 0
    for stage, choice in enumerate(x):
        violations += int((infested > limit).sum())
        if choice == 0:
            infested = infested + beta(uniforms["spread"][stage], 17 / 3) * (1 - infested)
            continue
        base, discount, _, tolerance = PESTICIDES[choice - 1]
        infested = infested * (1 - beta(uniforms["control"][stage], resistances[choice - 1]))
        resistances[choice - 1] += tolerance / len(x)
        price += base * (1 - discount * numpy.count_nonzero(x == choice) / len(x))
    return price + violations / len(infested)


def pest_control(seed):
    stages, fields, instance = 25, 100, 1
    draws = Xoshiro(instance)
    drawn = numpy.array([draws.open_uniform() for _ in range((1 + 2 * stages) * fields)]).reshape(-1, fields)
    uniforms = {"initial": drawn[0], "spread": drawn[1 : 1 + stages], "control": drawn[1 + stages :]}

    # The test data has fields of its own, on which the formula is checked.
    case = data("pest-control")["common"]
    given = {key: numpy.array(case[key]) for key in uniforms}
    texts = [numpy.array([int(letter) for letter in text]) for text in case["x"]]
    known = [(lambda x=x: pest_control_cost(given, x), value) for x, value in zip(texts, case["value"])]
    benchmark = {"use": "pest-control", "options": {"seed": instance}}
    cost = functools.partial(pest_control_cost, uniforms)
    return Problem("pest-control", stages, 170, 0.0, cost, benchmark, known, levels=5)


def max_sat_clauses(seed, variables, clauses, experiment="max-sat"):
    """Random clauses of three literals: variables, signs (1 where it is not negated), and weights from 1 to 10."""
    # As the host derives the seed of an instance from the experiment's name and the trial's seed.
    digest = hashlib.sha256(f"{experiment}\0{seed}\0instance\0{0}".encode()).digest()
    draws = Xoshiro(int.from_bytes(digest[:8], "little"))
    places, signs, weights = [], [], []
    for _ in range(clauses):
        place, sign = [], []
        while len(place) < 3:
            variable = draws.below(variables)
            if variable not in place:
                place.append(variable)
                sign.append(int(draws.boolean()))
        places.append(place)
        signs.append(sign)
        weights.append(1 + draws.below(10))
    return numpy.array(places), numpy.array(signs), numpy.array(weights)


def max_sat(seed):
    """For each seed other clauses; weights are standardised."""
    size = {"variables": 28, "clauses": 120}
    places, signs, weights = max_sat_clauses(seed, **size)
    weights = (weights - weights.mean()) / weights.std()

    def value(x):
        return -weights[(x[places] == signs).any(axis=1)].sum()

    return Problem("max-sat", size["variables"], 270, 0.0, value, {"use": "max-sat", "options": size}, [])


PROBLEMS = {
    "bqp": bqp,
    "labs": labs,
    "ising": ising,
    "contamination": contamination,
    "pest-control": pest_control,
    "max-sat": max_sat,
}
# Of these, the benchmarks maximise two.
SIGNS = {"bqp": -1, "labs": -1}
# What the benchmarks call their levels.
PAIRS = [("0", "1"), ("-1", "+1"), ("drop", "keep"), ("leave", "prevent")]
CHOICES = ["none", "pesticide-1", "pesticide-2", "pesticide-3", "pesticide-4"]
LEVELS = {name: level for names in [*PAIRS, CHOICES] for level, name in enumerate(names)}


def check():
    for make in PROBLEMS.values():
        problem = make(1)
        if not problem.known:
            continue
        values = [x() if callable(x) else problem.bare(numpy.array(x)) for x, _ in problem.known]
        worst = max(abs(value - known) for value, (_, known) in zip(values, problem.known))
        print(f"{problem.name}: {len(problem.known)} known values, the largest difference is {worst:.1e}")
        assert worst < 1e-9


def check_run(folder):
    """Compares every evaluation that `host run` has recorded in a folder."""
    name, known, worst = folder.parent.name, {}, 0.0
    with (folder / "trace.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["seed"] not in known:
            known[row["seed"]] = PROBLEMS[name](int(row["seed"]))
        problem = known[row["seed"]]
        x = [LEVELS[level] for key, level in row.items() if key.startswith("x.")]
        worst = max(worst, abs(problem(x) - SIGNS.get(name, 1) * float(row["total"])))
    print(f"{name}: {len(rows)} evaluations of {folder}, the largest difference is {worst:.1e}")
    assert worst < 1e-9


if __name__ == "__main__":
    check()
    for folder in sys.argv[1:]:
        check_run(pathlib.Path(folder))
