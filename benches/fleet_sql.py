"""The model as SQL on the engines, over a partitioned launch table: time, CPU time, peak memory, bytes read, and whether they agree.

    python3 benches/fleet_sql.py PROGRAM launches/ [ENGINE...]

The Python that runs it has the packages of tests/it/sql/requirements.txt; Spark needs a Java runtime. Queries kernels and ranks of
all runs. `fleet` of the program is run on the same table. Memory is that of all processes together; bytes are those of read calls.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUN = Path(__file__).parent.parent / "tests/it/sql/run.py"
VIEWS = ["kernel_spread", "rank_spread", "model_check"]


def tree(root: int) -> list[int]:
    """A process and those that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            children.setdefault(int(fields[1]), []).append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def figures(pid: int) -> tuple[float, int, float]:
    """Resident memory in MiB, bytes read and CPU seconds of a process; zeros once it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        resident = next((line for line in status.splitlines() if line.startswith("VmRSS")), "VmRSS: 0")
        read = Path(f"/proc/{pid}/io").read_text().splitlines()[0]
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks = int(fields[11]) + int(fields[12])
        return int(resident.split()[1]) / 1024, int(read.split()[1]), ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0.0, 0, 0.0


def measured(command: list[str]) -> dict:
    """Runs a command; wall and CPU seconds, peak memory, bytes read."""
    start = time.monotonic()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, read, busy = 0.0, {}, {}
    while running.poll() is None:
        now = {pid: figures(pid) for pid in tree(running.pid)}
        peak = max(peak, sum(resident for resident, _, _ in now.values()))
        for pid, (_, count, seconds) in now.items():
            read[pid] = max(read.get(pid, 0), count)
            busy[pid] = max(busy.get(pid, 0.0), seconds)
        time.sleep(0.05)
    seconds = time.monotonic() - start
    return {
        "rc": running.returncode,
        "s": round(seconds, 1),
        "cpu_s": round(sum(busy.values()), 1),
        "mib": round(peak),
        "read_mb": round(sum(read.values()) / 1e6),
    }


def main(program: str, folder: str, *engines: str) -> None:
    # Java as users have it; the tests leave out its second compiler.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "")
    with tempfile.TemporaryDirectory() as kept:
        report = Path(kept, "fleet.json")
        result = measured([program, "fleet", folder, "-o", str(report)])
        known = json.loads(report.read_text())
        total = known["totals"]["measured_s"]
        print(json.dumps({"engine": "rooflint fleet", **result, "measured_s": total}), flush=True)
        for engine in engines or ("duckdb", "datafusion", "spark"):
            script, out = Path(kept, f"{engine}.sql"), Path(kept, f"{engine}.jsonl")
            text = subprocess.check_output([program, "sql", "--engine", engine, "--launches", folder], text=True)
            script.write_text(text)
            command = [sys.executable, str(RUN), engine, str(script), str(out), *VIEWS]
            result = measured(command)
            rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
            kernels = [row for row in rows if row["view"] == "kernel_spread"]
            result |= {
                "measured_s": sum(row["measured_s"] for row in kernels),
                "kernels": len(kernels),
                "ranks": sum(row["view"] == "rank_spread" for row in rows),
                "stragglers": [row["rank"] for row in rows if row.get("is_straggler")],
                "cells": sum(row.get("cells", 0) for row in rows),
            }
            print(json.dumps({"engine": engine, **result}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
