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
    weight = sum(w for w, taken in zip(WEIGHTS, packed) if taken)
    if weight > LIMIT:
        raise Infeasible(f"it weighs {weight}, and {LIMIT} can be carried")
    return sum(v for v, taken in zip(VALUES, packed) if taken)


if __name__ == "__main__":
    packing.serve()
