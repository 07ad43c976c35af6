"""Optuna's multivariate TPE on low autocorrelation binary sequences: the best n²/E of each seed."""

import argparse
import statistics

import numpy
import optuna


class NewPointsOnly(optuna.samplers.TPESampler):
    """Passes over candidates that were evaluated already, unless all were."""

    def __init__(self, points, **options):
        super().__init__(**options)
        self.points = points

    def _compute_acquisition_func(self, samples, mpe_below, mpe_above):
        values = super()._compute_acquisition_func(samples, mpe_below, mpe_above)
        names = sorted(samples, key=lambda name: int(name[1:]))
        rows = numpy.array([samples[name] for name in names]).T.astype(int)
        known = numpy.array([tuple(2 * row - 1) in self.points for row in rows])
        return values if known.all() else numpy.where(known, -numpy.inf, values)


def merit_factor(s):
    n = len(s)
    energy = sum(sum(s[i] * s[i + k] for i in range(n - k)) ** 2 for k in range(1, n))
    return n * n / energy


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--initial", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=150, help="proposals after the initial points")
    parser.add_argument("--new-points-only", action="store_true", help="evaluate no point twice")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    final, repeats = [], []
    for seed in range(1, arguments.seeds + 1):
        points = []
        options = {"multivariate": True, "n_startup_trials": arguments.initial, "seed": seed}
        if arguments.new_points_only:
            sampler = NewPointsOnly(points, **options)
        else:
            sampler = optuna.samplers.TPESampler(**options)
        study = optuna.create_study(sampler=sampler, direction="maximize")

        def objective(trial):
            s = [trial.suggest_categorical(f"s{i}", [-1, 1]) for i in range(1, arguments.n + 1)]
            points.append(tuple(s))
            return merit_factor(s)

        study.optimize(objective, n_trials=arguments.initial + arguments.evaluations)
        final.append(study.best_value)
        repeats.append(len(points) - len(set(points)))
        print(f"seed {seed}: {study.best_value:.4f}, {repeats[-1]} points evaluated again", flush=True)
    error = statistics.stdev(final) / len(final) ** 0.5 if len(final) > 1 else float("nan")
    print(f"mean {statistics.mean(final):.4f}, standard error {error:.4f}, repeats {statistics.mean(repeats):.1f}")


if __name__ == "__main__":
    main()
