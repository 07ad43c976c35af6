"""Writes a manifest for each problem, with our methods and the instance's own numbers, to a folder."""

import argparse
import json
import pathlib

from problems import PROBLEMS

# Every solver finds the minimum of what `forest` and `tpe` draw, but where a solver chooses: then draws are general functions.
METHODS = {
    "default": {},
    "forest": {"surrogate": "forest", "solver": "tabu"},
    "forest-2.3": {"surrogate": {"use": "forest", "options": {"version": 2.3}}, "solver": "tabu"},
    "forest-annealing": {"surrogate": {"use": "forest", "options": {"choose": "solver"}}, "solver": "annealing"},
    "tpe": {"surrogate": "tpe", "solver": "tabu"},
    "tpe-repeats": {"surrogate": {"use": "tpe", "options": {"repeats": True}}, "solver": "tabu"},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for make in PROBLEMS.values():
        problem = make(1)
        manifest = {
            "name": problem.name,
            "seeds": arguments.seeds,
            "budget": {"initial": problem.initial, "evaluations": problem.budget - problem.initial},
            "penalty": {"l1": problem.l1},
            "benchmark": problem.benchmark,
            "methods": {name: METHODS[name] for name in arguments.methods},
        }
        # JSON is YAML.
        path = arguments.folder / f"{problem.name}.yaml"
        path.write_text(json.dumps(manifest, indent=1) + "\n")
        print(path)


if __name__ == "__main__":
    main()
