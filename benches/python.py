"""One large export in Python: rooflint beside the same arithmetic by hand with pandas, and what importing costs.

    pip install . pandas HolisticTraceAnalysis
    python3 benches/python.py [MEGABYTES [ROUNDS]]

The export is the sample of the repository, its launches repeated. Every line is a process of its own, in turn, round
after round; the first round is dropped. Figures are medians: CPU time (user and system), the clock, and the largest
resident set. What is not installed is left out.
"""

import importlib.util
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "fixtures" / "demo" / "h100-training-step.csv"

# Roofline time and savings per kernel, of what a person would write first: device memory, tensor and vector operations.
BY_HAND = """
import pandas, sys
sass = [f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ("fadd", "fmul", "ffma")]
tensor = "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum"
read, written, time = "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"
run = pandas.read_csv(sys.argv[1], usecols=["Kernel Name", read, written, time, tensor, *sass], skiprows=[1],
                      thousands=",", dtype={"Kernel Name": "category"})
run["seconds"] = run[time] * 1e-9
run["memory"] = (run[read] + run[written]) / 3.35e12
run["math"] = (run[tensor].fillna(0) / 989.4e12).combine(
    (run[sass[0]] + run[sass[1]] + 2 * run[sass[2]]).fillna(0) / 66.9e12, max)
run["roofline"] = run[["memory", "math"]].max(axis=1)
kernels = run.groupby("Kernel Name", observed=True)[["seconds", "roofline"]].sum()
kernels["savings"] = kernels["seconds"] - kernels["roofline"]
print(kernels.sort_values("savings", ascending=False).head(10))
"""

# What is run, and the packages that it needs.
SCRIPTS = {
    "`rooflint.analyze`, all kernels as a table": ("import rooflint, sys; print(len(rooflint.analyze(sys.argv[1]).kernels))", ["rooflint"]),
    "the same and `to_pandas()`": ("import rooflint, sys; print(rooflint.analyze(sys.argv[1]).kernels.to_pandas().head(10))", ["rooflint", "pandas"]),
    "pandas by hand, 8 of the columns": (BY_HAND, ["pandas"]),
    "pandas, all columns read": ("import pandas, sys; print(len(pandas.read_csv(sys.argv[1], skiprows=[1], thousands=',')))", ["pandas"]),
    "`import rooflint`": ("import rooflint", ["rooflint"]),
    "`import pandas`": ("import pandas", ["pandas"]),
    "`import hta.trace_analysis` (HolisticTraceAnalysis)": ("import hta.trace_analysis", ["hta"]),
}


def write(path: Path, size: int) -> int:
    """Writes the sample's launches again and again, each with an ID of its own; returns their number."""
    head, launches = SAMPLE.read_text().split("\n", 2)[:2], SAMPLE.read_text().splitlines()[2:]
    number = 0
    with path.open("w") as to:
        to.write("\n".join(head) + "\n")
        while to.tell() < size:
            for launch in launches:
                _, rest = launch.split(",", 1)
                to.write(f'"{number}",{rest}\n')
                number += 1
    return number


def run(command: list[str]) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and MiB of a command."""
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"{command[2]}: failed")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def main() -> None:
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 200
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    scripts = {what: code for what, (code, needs) in SCRIPTS.items() if all(map(importlib.util.find_spec, needs))}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.csv"
        launches = write(path, int(megabytes * 1e6))
        times: dict[str, list[tuple[float, float, float]]] = {what: [] for what in scripts}
        for _ in range(rounds + 1):
            for what, code in scripts.items():
                times[what].append(run([sys.executable, "-c", code, str(path)]))
        print(f"{path.stat().st_size / 1e6:.0f} MB, {launches} launches\n")
    print("| what | CPU s | wall s | MiB |")
    print("| --- | --- | --- | --- |")
    for what, taken in times.items():
        cpu, wall, memory = (statistics.median(figures) for figures in zip(*taken[1:]))
        print(f"| {what} | {cpu:.2f} | {wall:.2f} | {memory:.0f} |")


if __name__ == "__main__":
    main()
