"""An objective: which items to pack, so that they are worth much and not too heavy. Put your own in its place.

To try it by hand: python3 {{snake}}.py --item1=packed --item2=left … prints the value.
"""

from workbench import Infeasible, objective

WEIGHTS = [3, 1, 4, 1, 5, 9, 2, 6]
VALUES = [2, 7, 1, 8, 2, 8, 1, 8]
LIMIT = 15

# Levels are numbers, words or truth values. `ordered=["name"]` says of a variable that its levels stand in an order.
ITEMS = {f"item{i}": ["left", "packed"] for i in range(1, len(WEIGHTS) + 1)}


@objective(variables=ITEMS, sense="maximize")
def packing(**items):
    """Is called with the level of each variable, and answers the value. What it prints goes to the host's log (-v)."""
    packed = [level == "packed" for level in items.values()]
    excess = sum(w for w, taken in zip(WEIGHTS, packed) if taken) - LIMIT
    if excess > LIMIT:
        # A point that has no value and never will. Any other exception is a failure of this time.
        raise Infeasible("the knapsack tears")
    return sum(v for v, taken in zip(VALUES, packed) if taken) - 10 * max(excess, 0)


if __name__ == "__main__":
    packing.serve()
