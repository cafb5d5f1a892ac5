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

# What a roofline needs of an export of Nsight Compute; a file may lack some.
METRICS = [
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    "l1tex__t_bytes.sum",
    "sm__cycles_elapsed.avg",
    "sm__cycles_elapsed.avg.per_second",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
] + [f"{unit}__sass_thread_inst_executed_op_{op}_pred_on.sum" for unit in ("sm", "smsp")
     for op in ("dadd", "dmul", "dfma", "fadd", "fmul", "ffma")]

# Every script finds its columns by name: whole numbers, words, numbers.
COLUMNS = f"""
import csv, sys
path, kind = sys.argv[1:]
METRICS = {METRICS!r}
with open(path) as file:
    rows = csv.reader(file)
    names = next(rows)
    first = [row for row, _ in zip(rows, range(64))]
""" + """
if kind == "wide":
    u, s = ["ID", "Process ID", "Context", "Stream", "Device"], ["Kernel Name", "Block Size", "Grid Size", "CC"]
    f = [name for name in METRICS if name in names]
elif kind == "long":
    u, s, f = ["ID", "Process ID"], ["Kernel Name", "Context", "Stream"], ["Metric Value"]
    listed = {row[names.index("Metric Name")] for row in first}
    metrics = [name for name in METRICS if name in listed]
else:
    u, f = ["Idx", "Sub", "Device", "Stream"], ["Sil(ns)", "FLOPs", "Bytes"]
    s = [name for name in names if name not in u + f]
"""

SCRIPTS = {
    "polars": """
import polars as pl
scan = lambda skip=0: pl.scan_csv(path, infer_schema=False, skip_rows_after_header=skip)
number = lambda c: pl.col(c).str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)
if kind == "long":
    value = scan().with_columns(number("Metric Value").alias("v")).group_by("ID", "Process ID")
    out = value.agg([pl.col("v").filter(pl.col("Metric Name") == m).first().alias(m) for m in metrics]
                    + [pl.col(c).first() for c in s])
else:
    out = scan(int(kind == "wide")).select([pl.col(c).cast(pl.UInt32) for c in u] + s + [number(c) for c in f])
print(out.collect().height)
""",
    "pandas": """
import pandas as pd
if kind == "long":
    rows = pd.read_csv(path, usecols=u + s + ["Metric Name"] + f, thousands=",",
                       dtype={"Kernel Name": "category", "Metric Name": "category"})
    rows = rows[rows["Metric Name"].isin(metrics)]
    out = rows.pivot(index="ID", columns="Metric Name", values="Metric Value")
else:
    out = pd.read_csv(path, usecols=u + s + f, thousands=",", skiprows=[1] if kind == "wide" else None,
                      dtype={name: "category" for name in s})
print(len(out))
""",
    "pyarrow": """
import pyarrow as pa, pyarrow.csv, pyarrow.compute as pc
keep = u + s + f + (["Metric Name"] if kind == "long" else [])
table = pa.csv.read_csv(path, pa.csv.ReadOptions(skip_rows_after_names=int(kind == "wide")),
    pa.csv.ParseOptions(newlines_in_values=True),
    pa.csv.ConvertOptions(include_columns=keep, column_types={name: pa.string() for name in keep}))
for name in f:
    number = pc.cast(pc.replace_substring(table[name], ",", ""), pa.float64())
    table = table.set_column(table.column_names.index(name), name, number)
if kind == "long":
    for metric in metrics:
        value = pc.if_else(pc.equal(table["Metric Name"], metric), table["Metric Value"], None)
        table = table.append_column(metric, value)
    table = table.group_by("ID").aggregate([(m, "max") for m in metrics] + [(c, "min") for c in s])
print(table.num_rows)
""",
    "duckdb": """
import duckdb
quoted = lambda name: '"' + name + '"'
number = lambda name: f"TRY_CAST(replace({quoted(name)}, ',', '') AS DOUBLE)"
source = f"read_csv('{path}', all_varchar=true, header=true, delim=',', quote='{chr(34)}', escape='{chr(34)}', max_line_size=4000000)"
if kind == "long":
    columns = [f"first({quoted(c)})" for c in s]
    columns += [f"max({number('Metric Value')}) FILTER ({quoted('Metric Name')} = '{m}')" for m in metrics]
    group = " GROUP BY " + quoted("ID")
else:
    columns = [f"CAST({quoted(c)} AS UINTEGER)" for c in u] + [quoted(c) for c in s] + [number(c) for c in f]
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
        for name in ("ncu-wide", "ncu-long", "pyprof", "ncu-wide-varied", "ncu-long-varied", "pyprof-varied"):
            kind = name.removeprefix("ncu-").removesuffix("-varied")
            path = os.path.join(folder, name + ".csv")
            others = {"`wc -l`": ["wc", "-l", path], "csv loop": [program, "--loop", path]}
            for library, script in SCRIPTS.items():
                if importlib.util.find_spec(library):
                    others[library] = [sys.executable, "-c", COLUMNS + script, path, kind]
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
