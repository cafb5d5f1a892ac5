"""Runs the model as SQL on an engine: run.py ENGINE SQL OUT VIEW...; writes the rows of the views as JSON lines, each
with the name of its view.

Exit code 77: the engine is not installed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

Rows = Iterator[tuple[str, dict]]

# Java runs for less than a minute: without its second compiler a script takes two thirds of the processor time.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# How often a job is run again until a worker was killed in it.
ATTEMPTS = 30


def statements(text: str) -> list[str]:
    """The statements of a script; none of its texts has a semicolon at the end of a line."""
    lines = (line for line in text.splitlines() if not line.startswith("--"))
    return [one for one in ("\n".join(lines) + "\n").split(";\n") if one.strip()]


def duckdb(script: list[str], views: list[str]) -> Rows:
    import duckdb

    connection = duckdb.connect()
    for statement in script:
        connection.execute(statement)
    for view in views:
        result = connection.execute(f"SELECT * FROM {view}")
        names = [column[0] for column in result.description]
        yield from ((view, dict(zip(names, row))) for row in result.fetchall())


def datafusion(script: list[str], views: list[str]) -> Rows:
    from datafusion import SessionContext

    context = SessionContext()
    for statement in script:
        context.sql(statement).collect()
    for view in views:
        yield from ((view, row) for row in context.sql(f"SELECT * FROM {view}").to_pylist())


def spark(script: list[str], views: list[str]) -> Rows:
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    # Only what happens to workers takes a cluster, whose processes start and warm up each on their own.
    kills = "ROOFLINT_KILL" in os.environ
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]" if kills else "local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    killing = threading.Thread(target=kill_one, args=(session.sparkContext,), daemon=True)
    try:
        for statement in script:
            session.sql(statement)
        if kills:
            killing.start()
        for view in views:
            rows = session.sql(f"SELECT * FROM {view}").collect()
            # A job may end before a worker could be killed in it: the rows are those of the job that lost one.
            for _ in range(ATTEMPTS):
                if not killing.is_alive():
                    break
                rows = session.sql(f"SELECT * FROM {view}").collect()
            yield from ((view, row.asDict()) for row in rows)
    finally:
        session.stop()


def job(script: list[str], views: list[str]) -> Rows:
    """What the job of `examples/` writes on a local cluster."""
    import pyarrow.parquet
    import pyspark  # noqa: F401

    sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))
    import fleet_spark

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    settings = " ".join(f"--conf {key}={value}" for key, value in settings.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local-cluster[2,1,1024] {settings} pyspark-shell"
    with tempfile.TemporaryDirectory() as out:
        model = Path(out) / "model.sql"
        model.write_text("".join(f"{statement};\n" for statement in script))
        fleet_spark.main(str(model), out)
        for view, written in zip(views, ["kernels", "ranks"], strict=True):
            rows = pyarrow.parquet.read_table(Path(out) / written).to_pylist()
            yield from ((view, row) for row in rows)


def workers() -> list[int]:
    """The worker processes that descend from this one."""
    parents, found = {}, []
    for entry in Path("/proc").iterdir():
        try:
            pid = int(entry.name)
            parents[pid] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"CoarseGrainedExecutorBackend" in (entry / "cmdline").read_bytes():
                found.append(pid)
        except (OSError, ValueError):
            continue

    def is_own(pid: int) -> bool:
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return [pid for pid in found if is_own(pid)]


def kill_one(context) -> None:
    """Kills a worker while a job is running, after some of its tasks are done; says so on standard error."""
    tracker = context.statusTracker()
    while True:
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            found = workers()
            if info and info.numCompletedTasks > 0 and info.numActiveTasks > 0 and len(found) > 1:
                os.kill(found[0], signal.SIGKILL)
                print(f"killed a worker after {info.numCompletedTasks} of {info.numTasks} tasks", file=sys.stderr)
                return
        time.sleep(0.02)


ENGINES = {"duckdb": duckdb, "datafusion": datafusion, "spark": spark, "spark-job": job}


def main(engine: str, script: str, out: str, *views: str) -> int:
    try:
        rows = list(ENGINES[engine](statements(Path(script).read_text()), list(views)))
    except ImportError as error:
        print(f"{engine} is not installed: {error}", file=sys.stderr)
        return 77
    with open(out, "w") as file:
        for view, row in rows:
            file.write(json.dumps({"view": view, **row}, default=float) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
