"""The other programs, each as people run it: a function that minimises an objective of variables with levels from 0 on.

An objective counts its calls; a peer calls it `budget` times, first at `initial` points chosen uniformly at random.
"""

import collections
import importlib.metadata
import logging
import tempfile
import warnings

import numpy


def random(objective, variables, levels, initial, budget, seed):
    generator = numpy.random.default_rng(seed)
    for _ in range(budget):
        objective(generator.integers(levels, size=variables).tolist())


def optuna(objective, variables, levels, initial, budget, seed, sampler=None):
    """The tree-structured Parzen estimator with `multivariate=True`."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    sampler = sampler or optuna.samplers.TPESampler
    sampler = sampler(multivariate=True, n_startup_trials=initial, seed=seed)
    study = optuna.create_study(sampler=sampler)
    study.optimize(
        lambda trial: objective([trial.suggest_categorical(f"x{i}", list(range(levels))) for i in range(variables)]),
        n_trials=budget,
    )


def optuna_new_points(objective, variables, levels, initial, budget, seed):
    """Optuna's estimator, but candidates that were evaluated already are passed over, unless all were."""
    import optuna as package

    class NewPointsOnly(package.samplers.TPESampler):
        def _compute_acquisition_func(self, samples, mpe_below, mpe_above):
            values = super()._compute_acquisition_func(samples, mpe_below, mpe_above)
            names = sorted(samples, key=lambda name: int(name[1:]))
            rows = numpy.array([samples[name] for name in names]).T.astype(int)
            known = numpy.array([tuple(row) in objective.seen for row in rows])
            return values if known.all() else numpy.where(known, -numpy.inf, values)

    optuna(objective, variables, levels, initial, budget, seed, NewPointsOnly)


def hyperopt(objective, variables, levels, initial, budget, seed):
    """Its tree-structured Parzen estimator, on unordered choices."""
    from hyperopt import fmin, hp, tpe

    fmin(
        lambda x: objective(list(x)),
        [hp.choice(f"x{i:03}", list(range(levels))) for i in range(variables)],
        algo=lambda *arguments, **options: tpe.suggest(*arguments, n_startup_jobs=initial, **options),
        max_evals=budget,
        rstate=numpy.random.default_rng(seed),
        show_progressbar=False,
        verbose=False,
    )


def nevergrad(objective, variables, levels, initial, budget, seed):
    """The wizard NGOpt on unordered choices that mutate (`TransitionChoice`); the initial points are suggested to it.

    With `Choice`, whose levels are drawn at random from weights, it takes the problem for a noisy continuous one.
    """
    warnings.simplefilter("ignore")
    import nevergrad as package

    choices = [package.p.TransitionChoice(list(range(levels))) for _ in range(variables)]
    parametrization = package.p.Instrumentation(*choices)
    parametrization.random_state.seed(seed)
    optimizer = package.optimizers.NGOpt(parametrization=parametrization, budget=budget)
    generator = numpy.random.default_rng(seed)
    for _ in range(initial):
        optimizer.suggest(*generator.integers(levels, size=variables).tolist())
    for _ in range(budget):
        candidate = optimizer.ask()
        optimizer.tell(candidate, objective(list(candidate.args)))


def smac(objective, variables, levels, initial, budget, seed):
    """The facade for hyperparameters' optimisation, whose model is the random forest."""
    from ConfigSpace import Categorical, ConfigurationSpace
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.initial_design import RandomInitialDesign

    space = ConfigurationSpace(seed=seed)
    space.add([Categorical(f"x{i:03}", list(range(levels))) for i in range(variables)])
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=True, n_trials=budget, seed=seed, output_directory=folder)
        facade = HyperparameterOptimizationFacade(
            scenario,
            lambda configuration, seed=0: objective([int(configuration[f"x{i:03}"]) for i in range(variables)]),
            initial_design=RandomInitialDesign(scenario, n_configs=initial, max_ratio=1.0),
            logging_level=logging.ERROR,
            overwrite=True,
        )
        facade.optimize()
        # How many proposals were found by the search, and how many were random.
        objective.origins = dict(collections.Counter(known.origin for known in facade.runhistory.get_configs()))


def ax(objective, variables, levels, initial, budget, seed):
    """The client with its default strategy, on unordered choices; the initial points are attached."""
    import torch
    from ax.api.client import Client
    from ax.api.configs import ChoiceParameterConfig

    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    client = Client(random_seed=seed)
    names = [f"x{i}" for i in range(variables)]
    values = [str(level) for level in range(levels)]
    client.configure_experiment(
        parameters=[ChoiceParameterConfig(name=name, values=values, parameter_type="str") for name in names]
    )
    client.configure_optimization(objective="-value")
    client.configure_generation_strategy(initialization_budget=initial, initialize_with_center=False)
    generator = numpy.random.default_rng(seed)
    for _ in range(initial):
        x = generator.integers(levels, size=variables).tolist()
        trial = client.attach_trial({name: str(level) for name, level in zip(names, x)})
        client.complete_trial(trial, {"value": objective(x)})
    for _ in range(budget - initial):
        for trial, parameters in client.get_next_trials(max_trials=1).items():
            client.complete_trial(trial, {"value": objective([int(parameters[name]) for name in names])})


PEERS = {
    "random": random,
    "optuna": optuna,
    "optuna-new-points": optuna_new_points,
    "hyperopt": hyperopt,
    "nevergrad": nevergrad,
    "smac": smac,
    # The same function; it needs an environment of its own.
    "smac-2.3": smac,
    "ax": ax,
}
PACKAGES = {
    "optuna": "optuna",
    "optuna-new-points": "optuna",
    "hyperopt": "hyperopt",
    "nevergrad": "nevergrad",
    "smac": "smac",
    "smac-2.3": "smac",
    "ax": "ax-platform",
}


def version(peer):
    return importlib.metadata.version(PACKAGES[peer]) if peer in PACKAGES else None
