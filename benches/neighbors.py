"""Reading of large exports beside other readers, by ratio in one run.

    cargo bench --no-default-features --features cli --bench read --no-run   # prints the program
    python3 benches/neighbors.py PROGRAM [MEGABYTES [ROUNDS]]

Every reader takes the same columns of the same files, in turn, round after round; the first round is
dropped. Figures are the median of the ratios of CPU time (user and system) in each round; "wall" is
the clock with all cores, and memory is the largest resident set. Readers that are not installed are
left out.
"""

import importlib.util
import os
import statistics
import sys
import tempfile
import time

SCRIPTS = {
    "polars": """
import polars as pl, sys
path, kind = sys.argv[1:]
scan = lambda skip=0: pl.scan_csv(path, infer_schema=False, skip_rows_after_header=skip)
number = lambda c: pl.col(c).str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)
if kind == "wide":
    frame = scan(1)
    names = frame.collect_schema().names()
    u, s = [names[i] for i in (0, 1, 5, 6, 9)], [names[i] for i in (4, 7, 8, 10)]
    out = frame.select([pl.col(c).cast(pl.UInt32) for c in u] + s + [number(c) for c in names[11:27]])
elif kind == "long":
    metrics = scan().head(16).collect()["Metric Name"].to_list()
    value = scan().with_columns(number("Metric Value").alias("v")).group_by("ID", "Process ID")
    out = value.agg([pl.col("v").filter(pl.col("Metric Name") == m).first().alias(m) for m in metrics]
                    + [pl.col(c).first() for c in ("Kernel Name", "Context", "Stream")])
else:
    names = scan().collect_schema().names()
    u, f = [names[i] for i in (0, 2, 9, 10)], [names[i] for i in (7, 13, 14)]
    s = [c for c in names if c not in u + f]
    out = scan().select([pl.col(c).cast(pl.UInt32) for c in u] + s + [number(c) for c in f])
print(out.collect().height)
""",
    "pandas": """
import pandas as pd, sys
path, kind = sys.argv[1:]
names = list(pd.read_csv(path, nrows=0).columns)
if kind == "wide":
    use = [names[i] for i in (0, 1, 4, 5, 6, 7, 8, 9, 10)] + names[11:27]
    out = pd.read_csv(path, usecols=use, thousands=",", skiprows=[1],
                      dtype={names[i]: "category" for i in (4, 7, 8, 10)})
elif kind == "long":
    use = ["ID", "Process ID", "Kernel Name", "Context", "Stream", "Metric Name", "Metric Value"]
    rows = pd.read_csv(path, usecols=use, thousands=",", dtype={"Kernel Name": "category", "Metric Name": "category"})
    out = rows.pivot(index="ID", columns="Metric Name", values="Metric Value")
else:
    out = pd.read_csv(path, thousands=",", dtype={names[i]: "category" for i in (1, 3, 4, 5, 6, 8, 11, 12)})
print(len(out))
""",
    "pyarrow": """
import csv, pyarrow as pa, pyarrow.csv, pyarrow.compute as pc, sys
path, kind = sys.argv[1:]
with open(path) as file:
    names = next(csv.reader(file))
identity = ["ID", "Process ID", "Kernel Name", "Context", "Stream"]
keep = names
if kind == "wide":
    keep, numbers = names[:2] + names[4:27], names[11:27]
elif kind == "long":
    keep, numbers = identity + ["Metric Name", "Metric Value"], ["Metric Value"]
else:
    numbers = [names[i] for i in (7, 13, 14)]
table = pa.csv.read_csv(path, pa.csv.ReadOptions(skip_rows_after_names=int(kind == "wide")),
    pa.csv.ParseOptions(newlines_in_values=True),
    pa.csv.ConvertOptions(include_columns=keep, column_types={name: pa.string() for name in keep}))
for name in numbers:
    number = pc.cast(pc.replace_substring(table[name], ",", ""), pa.float64())
    table = table.set_column(table.column_names.index(name), name, number)
if kind == "long":
    metrics = table["Metric Name"].slice(0, 16).to_pylist()
    for metric in metrics:
        value = pc.if_else(pc.equal(table["Metric Name"], metric), table["Metric Value"], None)
        table = table.append_column(metric, value)
    table = table.group_by("ID").aggregate([(m, "max") for m in metrics] + [(c, "min") for c in identity[2:]])
print(table.num_rows)
""",
    "duckdb": """
import csv, duckdb, sys
path, kind = sys.argv[1:]
with open(path) as file:
    rows = csv.reader(file)
    names = next(rows)
    metrics = [row[9] for row, _ in zip(rows, range(16))] if kind == "long" else []
quoted = lambda name: '"' + name + '"'
number = lambda name: f"TRY_CAST(replace({quoted(name)}, ',', '') AS DOUBLE)"
source = f"read_csv('{path}', all_varchar=true, header=true, delim=',', quote='{chr(34)}', escape='{chr(34)}', max_line_size=4000000)"
group = ""
if kind == "long":
    columns = [f"first({quoted(c)})" for c in ("Kernel Name", "Context", "Stream")]
    columns += [f"max({number('Metric Value')}) FILTER ({quoted('Metric Name')} = '{m}')" for m in metrics]
    group = " GROUP BY " + quoted("ID")
else:
    integers, words, numbers = ((0, 1, 5, 6, 9), (4, 7, 8, 10), range(11, 27)) if kind == "wide" else (
        (0, 2, 9, 10), (1, 3, 4, 5, 6, 8, 11, 12), (7, 13, 14))
    columns = [f"CAST({quoted(names[i])} AS UINTEGER)" for i in integers]
    columns += [quoted(names[i]) for i in words] + [number(names[i]) for i in numbers]
    group = f" WHERE {quoted('ID')} <> ''" if kind == "wide" else ""
columns = ", ".join(f"{column} AS c{at}" for at, column in enumerate(columns))
connection = duckdb.connect()
connection.execute(f"CREATE TEMP TABLE t AS SELECT {columns} FROM {source}{group}")
print(connection.execute("SELECT count(*) FROM t").fetchall()[0][0])
""",
}


def run(command):
    """CPU seconds, wall seconds and MiB of a command."""
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(command[:4])}: failed")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def main():
    program = sys.argv[1]
    megabytes = sys.argv[2] if len(sys.argv) > 2 else "200"
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        run([program, "--write", folder, megabytes])
        print("| file | beside | CPU, one thread | wall, all cores | its CPU s | its MiB |")
        print("| --- | --- | --- | --- | --- | --- |")
        for kind, name in [("wide", "ncu-wide"), ("long", "ncu-long"), ("pyprof", "pyprof")]:
            path = os.path.join(folder, name + ".csv")
            others = {"`wc -l`": ["wc", "-l", path], "csv loop": [program, "--loop", path]}
            for library, script in SCRIPTS.items():
                if importlib.util.find_spec(library):
                    others[library] = [sys.executable, "-c", script, path, kind]
            times = []
            for _ in range(rounds + 1):
                ours = run([program, "--read", path, "1"]), run([program, "--read", path, "0"])
                times.append((ours, {who: run(command) for who, command in others.items()}))
            del times[0]
            median = statistics.median
            own = [median(ours[0][at] for ours, _ in times) for at in range(3)]
            wall = median(ours[1][1] for ours, _ in times)
            print(f"| {name} | rooflint | 1 ({own[0]:.2f} s) | 1 ({wall:.2f} s) | | {own[2]:.0f} |")
            for who in others:
                cpu = median(ours[0][0] / theirs[who][0] for ours, theirs in times)
                wall = median(ours[1][1] / theirs[who][1] for ours, theirs in times)
                seconds, mib = (median(theirs[who][at] for _, theirs in times) for at in (0, 2))
                print(f"| | {who} | {cpu:.2f} | {wall:.2f} | {seconds:.2f} | {mib:.0f} |")


if __name__ == "__main__":
    main()
