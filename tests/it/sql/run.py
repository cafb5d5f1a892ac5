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
from collections.abc import Iterator
from pathlib import Path

Rows = Iterator[tuple[str, dict]]

# Java runs for less than a minute: without its second compiler a script takes two thirds of the processor time.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}

# How often a job is run until a worker was killed in it.
ATTEMPTS = 5


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
    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        for statement in script:
            session.sql(statement)
        for view in views:
            yield from ((view, row.asDict()) for row in session.sql(f"SELECT * FROM {view}").collect())
    finally:
        session.stop()


def job(script: list[str], views: list[str]) -> Rows:
    """What the job of `examples/` writes on a local cluster, one of whose workers is killed meanwhile."""
    import pyarrow.parquet
    import pyspark  # noqa: F401

    sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))
    import fleet_spark

    settings = " ".join(f"--conf {key}={value}" for key, value in SETTINGS.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local-cluster[2,1,1024] {settings} pyspark-shell"
    with tempfile.TemporaryDirectory() as out:
        model = Path(out) / "model.sql"
        model.write_text("".join(f"{statement};\n" for statement in script))
        # The job may end before a worker could be killed in it.
        for _ in range(ATTEMPTS):
            killing = Killing()
            killing.start()
            try:
                fleet_spark.main(str(model), out)
            finally:
                killing.end()
            if killing.is_done:
                break
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


class Killing(threading.Thread):
    """Kills a worker while a job is running, after some of its tasks are done; says so on standard error."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.is_done = False
        self.ended = threading.Event()

    def run(self) -> None:
        while not (self.is_done or self.ended.wait(0.02)):
            try:
                self.is_done = self.kill_one()
            except Exception:  # noqa: BLE001, S112: the job starts or ends just now
                continue

    @staticmethod
    def kill_one() -> bool:
        from pyspark import SparkContext

        context = SparkContext._active_spark_context
        if context is None:
            return False
        tracker = context.statusTracker()
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            found = workers()
            if info and info.numCompletedTasks > 0 and info.numActiveTasks > 0 and len(found) > 1:
                os.kill(found[0], signal.SIGKILL)
                print(f"killed a worker after {info.numCompletedTasks} of {info.numTasks} tasks", file=sys.stderr)
                return True
        return False

    def end(self) -> None:
        self.ended.set()
        self.join()


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
