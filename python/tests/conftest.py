"""What the tests share: the repository's fixtures, and copies of the sample run with other times."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "fixtures" / "demo" / "h100-training-step.csv"


def copy(to: Path, factor: float, kernel: str = "") -> Path:
    """The sample with the times of kernels of this name multiplied, as a run of its own."""
    with SAMPLE.open(newline="") as file:
        rows = list(csv.reader(file))
    name, time = rows[0].index("Kernel Name"), rows[0].index("gpu__time_duration.sum")
    for number, row in enumerate(rows[2:]):
        slower = factor if kernel in row[name] else 1.0
        # A percent of noise that differs from launch to launch.
        noise = 1 + number * 37 % 21 / 2000
        row[time] = str(float(row[time].replace(",", "")) * slower * noise)
    with to.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return to


@pytest.fixture
def sample() -> Path:
    return SAMPLE


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that documents speak of."""
    monkeypatch.chdir(tmp_path)
    copy(tmp_path / "run.csv", 1.0)
    copy(tmp_path / "main.csv", 0.8, "softmax")
    trace = ROOT / "fixtures" / "pytorch_trace" / "v100-list-2020.json.gz"
    (tmp_path / "trace.json.gz").write_bytes(trace.read_bytes())
    (tmp_path / "session.hatchet").write_bytes(
        (ROOT / "fixtures" / "proton" / "h100-two-scopes.hatchet").read_bytes()
    )
    (tmp_path / "metrics.csv").write_bytes(
        (ROOT / "fixtures" / "nsight_python" / "h100-two-implementations.csv").read_bytes()
    )
    return tmp_path
