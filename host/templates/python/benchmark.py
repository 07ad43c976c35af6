"""An objective: which items to pack, so that they are worth much. Put your own in its place.

The manifest has the rule that they must not be too heavy. To try the function by hand:
python3 {{snake}}.py --item1=packed --item2=left … prints the value.
"""

from workbench import objective

VALUES = [2, 7, 1, 8, 2, 8, 1, 8]

# Levels are numbers, words or truth values. `ordered=["name"]` says of a variable that its levels stand in an order.
ITEMS = {f"item{i}": ["left", "packed"] for i in range(1, len(VALUES) + 1)}


@objective(variables=ITEMS, sense="maximize")
def packing(**items):
    """Is called with the level of each variable, and answers the value. What it prints goes to the host's log (-v).

    An exception is a failure. Where only the evaluation finds out that a point has no value and never will, raise
    `workbench.Infeasible("why")`.
    """
    return sum(value for value, level in zip(VALUES, items.values()) if level == "packed")


if __name__ == "__main__":
    packing.serve()
