"""Kernels of all ranks on a Spark cluster, by the model as SQL.

    rooflint sql --engine spark --launches s3a://profiles/launches > model.sql
    spark-submit --master spark://head:7077 fleet_spark.py model.sql kernels/

writes a row per kernel over ranks, the largest savings first, and a row per rank; both as Parquet. Executors need access
to the folder, and nothing of rooflint. One shuffle moves one row per kernel and rank; launches stay where they are read.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession


def statements(text: str) -> list[str]:
    """The statements of a script."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return [one for one in f"{lines}\n".split(";\n") if one.strip()]


def main(model: str, out: str) -> None:
    # `pip install pyspark` alone has what local-cluster mode asks of an installation.
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    session = SparkSession.builder.appName("rooflint").getOrCreate()
    try:
        for statement in statements(Path(model).read_text()):
            session.sql(statement)
        kernels = session.sql("SELECT * FROM kernel_spread ORDER BY savings_s DESC, kernel_identity")
        kernels.coalesce(1).write.mode("overwrite").parquet(f"{out}/kernels")
        ranks = session.sql("SELECT * FROM rank_spread ORDER BY measured_s DESC, rank")
        ranks.coalesce(1).write.mode("overwrite").parquet(f"{out}/ranks")
    finally:
        session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
