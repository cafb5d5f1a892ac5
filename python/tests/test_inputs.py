"""Profiles from memory: what is read of them is what is read of the file."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import rooflint


def same(one: rooflint.Report, other: rooflint.Report) -> bool:
    """Whether two reports say the same, whatever their inputs are called."""
    return list(one.kernels.rows()) == list(other.kernels.rows())


def test_bytes_and_files_are_read_as_the_file_is(sample: Path) -> None:
    named, content = rooflint.analyze(sample), sample.read_bytes()
    with sample.open("rb") as file:
        forms: list[Any] = [content, bytearray(content), memoryview(content), io.BytesIO(content), file]
        for given in [*forms, io.StringIO(content.decode())]:
            assert same(rooflint.analyze(given), named)


def test_every_format_is_read_from_memory(root: Path) -> None:
    fixtures = [
        ("ncu_rep/h100-training-step.ncu-rep", None),
        ("pytorch_trace/v100-list-2020.json.gz", "V100 SXM2 16GB"),
        ("nsys_sqlite/h100-two-ranks-2025.5.sqlite", None),
    ]
    for path, device in fixtures:
        file = root / "fixtures" / path
        assert same(rooflint.analyze(file.read_bytes(), device), rooflint.analyze(file, device))


class TorchProfile:
    """What `torch.profiler.profile` offers for export; torch itself is not needed."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def export_chrome_trace(self, path: str) -> None:
        shutil.copy(self._trace, path)


def test_a_profile_of_torch_is_taken_as_it_is(root: Path) -> None:
    trace = root / "fixtures" / "pytorch_trace" / "a100-training.json"
    assert same(rooflint.analyze(TorchProfile(trace)), rooflint.analyze(trace))
    loaded = json.loads(trace.read_text())
    assert same(rooflint.analyze(loaded), rooflint.analyze(trace))


def test_a_profile_of_the_real_torch_is_taken_as_it_is() -> None:
    torch = pytest.importorskip("torch")
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiled:
        torch.ones(8) + 1
    # Without a GPU there is no kernel in it, and that is what is said.
    with pytest.raises(rooflint.InputError, match="no kernel|no GPU|CPU"):
        rooflint.analyze(profiled)


def test_a_proton_session_is_taken_as_its_file_or_tree(root: Path) -> None:
    file = root / "fixtures" / "proton" / "h100-two-scopes.hatchet"
    assert same(rooflint.analyze(json.loads(file.read_text())), rooflint.analyze(file))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_metrics_is_taken_as_it_is(root: Path, library: str) -> None:
    module = pytest.importorskip(library)
    file = root / "fixtures" / "nsight_python" / "h100-two-implementations.csv"
    if library == "pyarrow":
        from pyarrow import csv

        frame = csv.read_csv(file)
    else:
        frame = module.read_csv(file)

    class Result:
        """What nsight-python returns."""

        def to_dataframe(self) -> Any:
            return frame

    for given in (frame, Result()):
        assert same(rooflint.analyze(given), rooflint.analyze(file))


def test_a_raw_page_in_a_frame_is_taken_as_it_is(sample: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(sample, dtype=str, keep_default_na=False)
    assert same(rooflint.analyze(frame), rooflint.analyze(sample))


def test_what_is_no_profile_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot read a profile from int"):
        rooflint.analyze(3)  # type: ignore[arg-type, unused-ignore]
    with pytest.raises(rooflint.InputError):
        rooflint.analyze(b"")


def test_inputs_in_memory_have_names_of_their_own(here: Path) -> None:
    contents = [(here / name).read_bytes() for name in ("run.csv", "main.csv")]
    paths = [one["path"] for one in rooflint.analyze(contents).to_dict()["inputs"]]
    assert paths == ["<bytes>", "<bytes 2>"]


def test_several_profiles_come_from_anything_that_gives_them(here: Path) -> None:
    several = rooflint.analyze([here / "run.csv", here / "main.csv"]).to_json()
    assert rooflint.analyze(path for path in (here / "run.csv", here / "main.csv")).to_json() == several
    assert rooflint.analyze(iter(["run.csv"])).to_json() == rooflint.analyze("run.csv").to_json()


def test_a_named_index_is_a_column(here: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv("metrics.csv")
    plain = rooflint.analyze(frame).kernels["measured_s"]
    for index in ("Kernel", "GPU", ["Metric", "NumRuns"]):
        assert rooflint.analyze(frame.set_index(index)).kernels["measured_s"] == plain


def test_relations_of_duckdb_are_tables(here: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    plain = rooflint.analyze("metrics.csv").kernels["measured_s"]
    assert rooflint.analyze(duckdb.sql("select * from 'metrics.csv'")).kernels["measured_s"] == plain


def test_what_is_no_profile_is_refused_by_name(here: Path) -> None:
    report = rooflint.analyze("run.csv")
    with pytest.raises(TypeError, match="judged already"):
        rooflint.analyze(report)
    with pytest.raises(TypeError, match="a Comparison is not a profile"):
        rooflint.analyze(rooflint.compare(report, report))

    class Odd:
        def read(self) -> int:
            return 10

    with pytest.raises(TypeError, match=r"read\(\) gave int"):
        rooflint.analyze(Odd())


def test_a_file_called_as_a_report_is_the_file(here: Path) -> None:
    (here / "<report>").write_bytes((here / "main.csv").read_bytes())
    assert rooflint.compare(rooflint.analyze("run.csv"), "<report>").outcome == "failed"
