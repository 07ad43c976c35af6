"""What exact programs make of the same constrained problems: CP-SAT and HiGHS beside `certified`.

Reads the lines that `cargo run --release -p solver-certified --example constrained` writes. Each product of two bits becomes a
bit of its own with the usual inequalities (Fortet 1960), all coefficients are whole numbers, and each program has one thread
and a limit on time.

    pip install ortools==9.15.6755 highspy==1.15.1
    python experiments/peers/constrained.py constrained.jsonl --seconds 60
"""

import argparse
import json
import time


def rules(problem):
    """Each rule as (terms, least, most), a term being (bit, level, weight)."""
    layout = problem["layout"]
    for group in layout["groups"]:
        yield [(bit, 1, 1) for bit in range(group["start"], group["end"])], 1, 1
    for constraint in layout.get("constraints", []):
        ((sort, rule),) = constraint.items()
        if sort == "forbidden":
            terms, least, most = rule, 0, len(rule) - 1
        elif sort == "fixed":
            terms, least, most = [rule], 1, 1
        else:
            terms = rule["of"]
            most = rule["limit"] if sort == "capacity" else rule["count"]
            least = most if sort == "exactly" else 0
        weights = rule["weights"] if sort == "capacity" else [1] * len(terms)
        yield [(t["index"], t["level"], int(w)) for t, w in zip(terms, weights)], least, int(most)


def cp_sat(problem, seconds):
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var(f"x{i}") for i in range(problem["n"])]
    objective = [int(b) * x[i] for i, b in enumerate(problem["linear"])]
    for i, j, a in problem["pairs"]:
        y = model.new_bool_var(f"y{i}_{j}")
        model.add_implication(y, x[i])
        model.add_implication(y, x[j])
        model.add_bool_or([y, ~x[i], ~x[j]])
        objective.append(int(a) * y)
    for terms, least, most in rules(problem):
        total = sum(w * (x[i] if level else 1 - x[i]) for i, level, w in terms)
        model.add_linear_constraint(total, least, most)
    model.minimize(sum(objective))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    started = time.process_time()
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value = solver.objective_value if found else None
    return value, solver.best_objective_bound, time.process_time() - started


def highs(problem, seconds):
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", float(seconds))
    model.setOptionValue("threads", 1)
    x = [model.addBinary(obj=b) for b in problem["linear"]]
    for i, j, a in problem["pairs"]:
        y = model.addVariable(lb=0, ub=1, obj=a)
        if a < 0:
            model.addConstr(y <= x[i])
            model.addConstr(y <= x[j])
        else:
            model.addConstr(y >= x[i] + x[j] - 1)
    for terms, least, most in rules(problem):
        total = sum((w * x[i] if level else w - w * x[i]) for i, level, w in terms)
        model.addConstr(total <= most)
        if least > 0:
            model.addConstr(total >= least)
    started = time.process_time()
    model.minimize()
    info = model.getInfo()
    value = info.objective_function_value if info.primal_solution_status == 2 else None
    return value, info.mip_dual_bound, time.process_time() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines", help="what the example wrote")
    parser.add_argument("--seconds", type=float, default=60, help="for each program and problem")
    arguments = parser.parse_args()

    def words(value, bound):
        if value is None:
            return f"none (bound {bound:.0f})"
        proven = bound is not None and value - bound < 0.5
        return f"{value:.0f}" + (" proven" if proven else f" (bound {bound:.0f})")

    print("| problem | `certified` | ms | CP-SAT | s | HiGHS | s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with open(arguments.lines) as lines:
        for problem in map(json.loads, lines):
            row = [f"`{problem['name']}`", words(problem["value"], problem["bound"])]
            row.append(f"{1000 * problem['seconds']:.1f}")
            for solve in (cp_sat, highs):
                value, bound, took = solve(problem, arguments.seconds)
                row += [words(value, bound), f"{took:.1f}"]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
