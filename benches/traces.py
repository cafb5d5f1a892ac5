"""Reading of large traces beside other readers, in one run.

    cargo build --release --locked
    python3 -m venv peers && peers/bin/pip install HolisticTraceAnalysis==0.5.0 'pandas<3' duckdb
    peers/bin/pip install git+https://github.com/AMD-AGI/TraceLens.git   # `tracelens` of PyPI is another program
    peers/bin/python benches/traces.py target/release/rooflint [MEGABYTES [ROUNDS]]

Two generated files: a Chrome trace of the PyTorch profiler and an SQLite export of Nsight Systems. Every reader says how
long the GPU was busy and how the time is shared among kernels, in turn, round after round; of each the round of median
time is shown. Readers that are not installed are left out, with the reason.
"""

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

GEMM = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_tn>(T1::Params)"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int, float, float const*)"
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
# Name, operator, shapes, types, grid, ns on the GPU, stream.
KERNELS = [
    (GEMM, "aten::addmm", [[4096], [8192, 1024], [1024, 4096], [], []], ["c10::BFloat16"] * 3 + ["Scalar"] * 2, (64, 32, 1), 288_000, 7),
    (ADD, "aten::add_", [[8192, 4096], [8192, 4096], []], ["float", "float", "Scalar"], (32768, 1, 1), 240_000, 7),
    (NORM, "aten::native_layer_norm", [[8192, 1024], [], [1024], [1024], []], ["float", "", "float", "float", "Scalar"], (8192, 1, 1), 52_000, 7),
    (NCCL, "nccl:all_reduce", [[4194304]], ["c10::BFloat16"], (24, 1, 1), 160_000, 20),
]
PER_STEP = 2_000


def kineto(path, megabytes):
    """A trace of one rank with its steps; returns the number of kernels and their time in ns."""
    end, kernels, total = megabytes * 1_000_000, 0, 0
    device = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_000_000_000, "computeMajor": 8,
              "computeMinor": 0, "numSms": 108, "warpSize": 32, "maxThreadsPerMultiprocessor": 2048}
    with open(path, "w", encoding="utf-8") as out:
        about = json.dumps({"schemaVersion": 1, "deviceProperties": [device], "distributedInfo": {
            "backend": "nccl", "rank": 0, "world_size": 8}, "with_stack": 0, "record_shapes": 1})
        out.write(about[:-1] + ', "traceEvents": [\n')
        cpu = gpu = 1_712_194_000_000_000_000
        step, began = 1, cpu

        def event(cat, name, pid, tid, start, ns, **args):
            one = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": 0, "dur": 0, "args": args}
            text = json.dumps(one).replace('"ts": 0', f'"ts": {start // 1000}.{start % 1000:03}', 1)
            out.write(text.replace('"dur": 0', f'"dur": {ns // 1000}.{ns % 1000:03}', 1) + ",\n")

        while out.tell() < end or kernels % PER_STEP:
            name, op, dims, types, grid, ns, stream = KERNELS[kernels % len(KERNELS)]
            number = kernels + 1
            ns += number * 7919 % 1000
            event("cpu_op", op, 4100, 4100, cpu, 9_000, **{
                "External id": number, "Record function id": 0, "Sequence number": number, "Fwd thread id": 0,
                "Ev Idx": number, "Input Dims": dims, "Input type": types, "Concrete Inputs": [""] * len(dims),
                "Input Strides": [[1] * len(one) for one in dims]})
            event("cuda_runtime", "cudaLaunchKernel", 4100, 4100, cpu + 3_000, 4_000, **{
                "External id": number, "cbid": 211, "correlation": number})
            gpu = max(gpu, cpu + 9_000) + 1_100
            event("kernel", name, 0, stream, gpu, ns, **{
                "External id": number, "queued": 0, "device": 0, "context": 1, "stream": stream, "correlation": number,
                "registers per thread": 64, "shared memory": 16384, "blocks per SM": 18.96, "warps per SM": 75.85,
                "grid": grid, "block": [128, 1, 1], "est. achieved occupancy %": 31})
            for ph, pid, tid, at in (("s", 4100, 4100, cpu + 3_000), ("f", 0, stream, gpu)):
                arrow = {"ph": ph, "id": number, "pid": pid, "tid": tid, "ts": at // 1000, "cat": "ac2g", "name": "ac2g"}
                if ph == "f":
                    arrow["bp"] = "e"
                out.write(json.dumps(arrow) + ",\n")
            cpu, gpu, kernels, total = cpu + 20_000, gpu + ns, kernels + 1, total + ns
            if kernels % PER_STEP == 0:
                event("cuda_runtime", "cudaDeviceSynchronize", 4100, 4100, cpu, gpu - cpu, **{"cbid": 165, "correlation": 0})
                cpu = gpu + 5_000
                event("user_annotation", f"ProfilerStep#{step}", 4100, 4100, began, cpu - began, **{"External id": 0})
                step, began = step + 1, cpu
        out.write(json.dumps({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": gpu // 1000}))
        out.write("\n]}\n")
    return kernels, total


def integers(names):
    return [f'"{name}" INTEGER' for name in names.split()]


def nsys(path, megabytes):
    """An export with launches, calls and ranges; returns the number of kernels and their time in ns."""
    database = sqlite3.connect(path)
    table = lambda name, columns: database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
    table("StringIds", ["id INTEGER NOT NULL PRIMARY KEY", "value TEXT"])
    strings = [one[0] for one in KERNELS] + ["cudaLaunchKernel_v7000", "kernel"]
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(strings))
    table("META_DATA_EXPORT", ["name TEXT", "value TEXT"])
    database.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.23.3')")
    table("TARGET_INFO_GPU", integers("id") + ["name TEXT"] + integers("smCount clockRate cuDevice computeMajor computeMinor"))
    database.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100-SXM4-80GB', 108, 1410000000, 0, 8, 0)")
    table("CUPTI_ACTIVITY_KIND_KERNEL", integers(
        "start end deviceId contextId greenContextId streamId correlationId globalPid demangledName shortName "
        "mangledName launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ "
        "staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted "
        "graphNodeId sharedMemoryLimitConfig"))
    table("CUPTI_ACTIVITY_KIND_RUNTIME", integers(
        "start end eventClass globalTid correlationId nameId returnValue callchainId"))
    table("NVTX_EVENTS", integers("start end eventType globalTid textId domainId") + ["text TEXT"])
    process = 1 << 48 | 4100 << 24
    kernels, total, cpu, gpu = 0, 0, 150_000_000, 150_000_000
    while os.path.getsize(path) < megabytes * 1_000_000:
        launches, calls, ranges = [], [], []
        for _ in range(50_000):
            at = kernels % len(KERNELS)
            _, op, _, _, grid, ns, stream = KERNELS[at]
            ns += kernels * 7919 % 1000
            gpu = max(gpu, cpu + 9_000) + 1_100
            launches.append((gpu, gpu + ns, 0, 1, None, stream, kernels, process, at, len(KERNELS) + 1, None, 1, 0, 64,
                             *grid, 128, 1, 1, 0, 16_384, 0, 0, kernels, 32_768, None, 0))
            calls.append((cpu + 3_000, cpu + 7_000, 0, process | 4100, kernels, len(KERNELS), 0, None))
            if kernels % 4 == 0:
                ranges.append((cpu, cpu + 70_000, 59, process | 4100, None, 0, op))
            cpu, gpu, kernels, total = cpu + 20_000, gpu + ns, kernels + 1, total + ns
        database.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({', '.join('?' * 28)})", launches)
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?, ?, ?, ?)", calls)
        database.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?)", ranges)
        database.commit()
    database.close()
    return kernels, total


# What `nsys stats --report cuda_gpu_kern_sum` asks, without its medians.
SUMS = """
SELECT s.value AS name, sum(k."end" - k.start) AS total, count(*) AS instances, avg(k."end" - k.start),
       min(k."end" - k.start), max(k."end" - k.start)
FROM {prefix}CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN {prefix}StringIds AS s ON k.demangledName = s.id
GROUP BY s.value ORDER BY total DESC
"""

# The union of all kernels: how long a GPU was busy.
BUSY = """
SELECT sum(CASE WHEN e > coalesce(m, s) THEN e - {later}(s, coalesce(m, s)) ELSE 0 END) FROM (
  SELECT start AS s, "end" AS e,
         max("end") OVER (ORDER BY start, "end" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS m
  FROM {prefix}CUPTI_ACTIVITY_KIND_KERNEL)
"""

# Each prints what it found, and its last line is the time of all kernels in ns.
TRACES = {
    "json.load": """
import json, sys
with open(sys.argv[1]) as file:
    trace = json.load(file)
print(sum(round(one["dur"] * 1000) for one in trace["traceEvents"] if one.get("cat") == "kernel"))
""",
    "TraceLens": """
import sys
from TraceLens import TreePerfAnalyzer
analyzer = TreePerfAnalyzer.from_file(sys.argv[1])
print(analyzer.get_df_gpu_timeline())
launchers = analyzer.get_df_kernel_launchers()
print(analyzer.get_df_kernel_launchers_summary(launchers).head())
print(round(launchers["total_direct_kernel_time"].sum() * 1000))
""",
    "HolisticTraceAnalysis 0.5.0": """
import os, sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=os.path.dirname(sys.argv[1]),
                         include_last_profiler_step=True)
print(analysis.get_temporal_breakdown(visualize=False))
kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
print(kinds)
print(round(kinds["sum"].sum() * 1000))
""",
}
DATABASES = {
    "sqlite3, SQL of `nsys stats`": f"""
import sqlite3, sys
database = sqlite3.connect(f"file:{{sys.argv[1]}}?mode=ro&immutable=1", uri=True)
rows = database.execute('''{SUMS.format(prefix="")}''').fetchall()
print(database.execute('''{BUSY.format(prefix="", later="max")}''').fetchall())
print(sum(row[1] for row in rows))
""",
    "DuckDB, the same SQL": f"""
import duckdb, sys
database = duckdb.connect()
database.execute("SET threads = 2")
database.execute("INSTALL sqlite; LOAD sqlite")
database.execute(f"ATTACH '{{sys.argv[1]}}' AS of (TYPE sqlite, READ_ONLY)")
rows = database.execute('''{SUMS.format(prefix="of.")}''').fetchall()
print(database.execute('''{BUSY.format(prefix="of.", later="greatest")}''').fetchall())
print(sum(row[1] for row in rows))
""",
}


def run(command):
    """Seconds of the clock and of the processors, MiB of the largest resident set, output; or the last line of an error."""
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        lines = [line for line in output.splitlines() if line.strip()]
        return None, lines[-1] if lines else f"status {status}"
    wall = time.monotonic() - began
    return (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), output


def compare(title, path, readers, total, rounds):
    """Runs every reader in turn and prints a table of them."""
    print(f"\n{title}: {os.path.getsize(path) / 1e6:.0f} MB")
    print("| reader | wall s | CPU s | peak MiB |\n| --- | --- | --- | --- |")
    runs, failed = {name: [] for name in readers}, {}
    for _ in range(rounds):
        for name, command in readers.items():
            if name in failed:
                continue
            figures, output = run(command)
            if figures is None:
                failed[name] = output
                continue
            found = total_of(name, output)
            # Some cut times to whole microseconds.
            if found is None or abs(found / total - 1) > 0.005:
                failed[name] = f"kernels take {found} ns instead of {total}"
                continue
            runs[name].append(figures)
    for name in readers:
        if name in failed:
            print(f"| {name} | - | - | - | ({failed[name]})")
            continue
        middle = [statistics.median(column) for column in zip(*runs[name])]
        print(f"| {name} | {middle[0]:.1f} | {middle[1]:.1f} | {middle[2]:.0f} |")


def total_of(name, output):
    """The time of all kernels in ns, as a reader found it."""
    if name == "rooflint":
        return json.loads(output)["totals"]["measured_s"] * 1e9
    try:
        return int(output.split()[-1])
    except (IndexError, ValueError):
        return None


def main():
    program = sys.argv[1]
    megabytes, rounds = (int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((2, 500), (3, 3)))
    with tempfile.TemporaryDirectory() as folder:
        for title, ending, make, peers in (
                ("Chrome trace of the PyTorch profiler", "trace.json", kineto, TRACES),
                ("SQLite export of Nsight Systems", "run.sqlite", nsys, DATABASES)):
            path = os.path.join(folder, ending)
            kernels, total = make(path, megabytes)
            readers = {"rooflint": [program, path, "--format", "json"]}
            readers.update({name: [sys.executable, "-c", script, path] for name, script in peers.items()})
            compare(f"{title}, {kernels} kernels", path, readers, total, rounds)
            os.remove(path)


if __name__ == "__main__":
    main()
