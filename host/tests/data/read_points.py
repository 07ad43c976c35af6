"""Prints the points of a run's folder as pandas and Polars read them from the Parquet file, a JSON object for each reader."""

import json
import sys

import pandas
import polars

path = sys.argv[1]
frame = pandas.read_parquet(path)
types = {name: str(kind) for name, kind in frame.dtypes.items()}
rows = json.loads(frame.to_json(orient="records", double_precision=15))
exact = [None if value != value else value.hex() for value in frame["value"]]
print(json.dumps({"reader": "pandas", "types": types, "rows": rows, "values": exact}))

frame = polars.read_parquet(path)
types = {name: str(kind) for name, kind in frame.schema.items()}
rows = frame.to_dicts()
exact = [None if row["value"] is None else row["value"].hex() for row in rows]
print(json.dumps({"reader": "polars", "types": types, "rows": rows, "values": exact}))
