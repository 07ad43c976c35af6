"""How many evaluations rounds need to reach the optimum, against one at a time: `python3 experiments/rounds.py trace.csv`.

Of the seeds that reach it both ways, the ratio of the sums, with a 95 % bootstrap interval over seeds.
"""

import csv
import random
import sys

DRAWS = 20000


def main(path):
    reached, seeds = {}, {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            batch, seed = int(row["budget.batch"]), int(row["seed"])
            seeds.setdefault(batch, set()).add(seed)
            if row["regret"] and float(row["regret"]) < 1e-9:
                reached.setdefault(batch, {}).setdefault(seed, int(row["evaluation"]))
    alone = reached[1]
    print(f"one at a time: {len(alone)} of {len(seeds[1])} seeds reach the optimum")
    for batch in sorted(set(reached) - {1}):
        both = sorted(alone.keys() & reached[batch].keys())
        pairs = [(reached[batch][seed], alone[seed]) for seed in both]
        low, high = interval(pairs)
        print(
            f"rounds of {batch}: {len(reached[batch])} of {len(seeds[batch])}; {ratio(pairs):.2f} times the evaluations "
            f"({low:.2f} to {high:.2f}) over {len(pairs)} seeds that reach it both ways"
        )


def ratio(pairs):
    return sum(pair[0] for pair in pairs) / sum(pair[1] for pair in pairs)


def interval(pairs):
    draw = random.Random(1)
    ratios = sorted(ratio(draw.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    return ratios[int(0.025 * DRAWS)], ratios[int(0.975 * DRAWS)]


if __name__ == "__main__":
    main(sys.argv[1])
