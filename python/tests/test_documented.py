"""The examples of docs/python.md and of the notebook, run as they are, in one folder with the files they speak of.

A comment before a block: `<!-- needs: WHAT -->` names the packages without which it is not run, `<!-- file: NAME -->` a
file that the block is.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BLOCK = re.compile(r"(?:<!-- (needs|file): (.*?) -->\n)?```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def offline(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Trackers keep to this folder."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DIR", str(here))
    # Its service may take long to start on a busy machine.
    monkeypatch.setenv("WANDB_X_SERVICE_WAIT", "300")
    # Its store in a database needs all of MLflow; the small package keeps files.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (here / 'mlruns').as_uri())
    return here


def missing(needs: str) -> list[str]:
    return [name for name in needs.split() if " " in name or importlib.util.find_spec(name) is None]


def blocks(root: Path) -> list[tuple[str, str, str]]:
    text = (root / "docs" / "python.md").read_text(encoding="utf-8")
    found = BLOCK.findall(text)
    assert len(found) == text.count("```python")
    return found


def test_examples_that_need_nothing_run(
    root: Path, pytester: pytest.Pytester, here: Path
) -> None:
    names: dict[str, Any] = {}
    for kind, what, code in blocks(root):
        if kind == "file":
            (here / what).write_text(code)
            result = pytester.runpytest(here / what, "--roofline-profile=run.csv", "--roofline-baseline=main.csv", f"--rootdir={here}")
            result.assert_outcomes(passed=2)
        elif not kind:
            exec(code, names)
    assert names["slower"] and all("softmax" in name for name in names["slower"])
    assert names["prediction"].roofline_s == pytest.approx(139e-6, rel=0.01)
    assert (here / "report.html").exists() and (here / "report.md").exists()


def example(root: Path, needs: str) -> dict[str, Any]:
    """Runs the example that needs these packages, on the report of the first one."""
    if missing(needs):
        pytest.skip(f"not installed: {', '.join(missing(needs))}")
    all_blocks = blocks(root)
    names: dict[str, Any] = {}
    exec(all_blocks[0][2], names)
    (code,) = [code for kind, what, code in all_blocks if (kind, what) == ("needs", needs)]
    exec(code, names)
    return names


def test_data_frames(root: Path, offline: Path) -> None:
    example(root, "polars pandas pyarrow duckdb")


def test_frames_of_metrics(root: Path, offline: Path) -> None:
    assert len(example(root, "pandas")["report"].kernels) == 2


def test_mlflow_keeps_the_metrics(root: Path, offline: Path) -> None:
    names = example(root, "mlflow")
    import mlflow

    (run,) = mlflow.MlflowClient().search_runs(["0"])
    assert run.data.metrics == names["report"].metrics()


def wandb_records(content: bytes) -> Iterator[Any]:
    """Reads what wandb keeps offline: a log of LevelDB, whose records may cross its blocks of 32 KiB."""
    record = importlib.import_module("wandb.proto.wandb_internal_pb2").Record
    at, whole = 7, b""
    while at + 7 <= len(content):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", content, at)
        whole += content[at + 7 : at + 7 + length]
        at += 7 + length
        # Full, or the last part; others are the first and middle ones.
        if kind in (1, 4):
            yield record.FromString(whole)
            whole = b""


def test_wandb_keeps_the_metrics(root: Path, offline: Path) -> None:
    names = example(root, "wandb")
    (kept,) = offline.glob("wandb/offline-run-*/*.wandb")
    metrics = names["report"].metrics()
    # Its service writes on after the run has ended.
    until = time.monotonic() + 60
    logged: dict[str, Any] = {}
    while not metrics.keys() <= logged.keys() and time.monotonic() < until:
        time.sleep(0.1)
        logged = {
            item.key or "/".join(item.nested_key): json.loads(item.value_json)
            for one in wandb_records(kept.read_bytes())
            for item in one.history.item
        }
    assert {name: logged.get(name) for name in metrics} == metrics


def test_tensorboard_keeps_the_metrics(root: Path, offline: Path) -> None:
    example(root, "tensorboardX")
    (events,) = (offline / "runs").glob("events.*")
    assert b"rooflint/gpu_time_seconds" in events.read_bytes()


def test_the_notebook_runs(root: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("polars")
    notebook = nbformat.read(root / "examples" / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(root / "examples")}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert all(output.output_type != "error" for output in shown)
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert {"image/svg+xml", "text/html"} <= kinds
    # It is kept without outputs, which would grow the repository with every run.
    kept = json.loads((root / "examples" / "notebook.ipynb").read_text())
    assert all(not cell.get("outputs") for cell in kept["cells"])
