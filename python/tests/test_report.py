"""Reports: their tables in every data frame library, their texts, files and pictures."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import rooflint


@pytest.fixture
def report(sample: Path) -> rooflint.Report:
    return rooflint.analyze(sample)


def test_kernels_are_those_of_the_csv_report(report: rooflint.Report) -> None:
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert report.kernels.columns == list(rows[0])
    for mine, row in zip(report.kernels.rows(), rows):
        for name, text in row.items():
            cell = mine[name]
            if cell is None:
                assert text == "", name
            elif isinstance(cell, bool):
                assert text == str(cell).lower(), name
            elif isinstance(cell, (int, float)):
                assert float(text) == cell, name
            else:
                assert text == cell, name


def test_totals_are_those_of_the_json_report(report: rooflint.Report) -> None:
    document = report.to_dict()["totals"]
    (row,) = report.totals.rows()
    assert row == {name: document[name] for name in row}
    # By hand from the sample: 46 launches of 13 kernels in 48.837696 ms.
    assert (row["launches"], row["kernels"], row["measured_s"]) == (46, 13, 0.048837696)


def test_findings_are_those_of_the_json_report(report: rooflint.Report) -> None:
    document = report.to_dict()
    expected = [(one["name"], found["rule"]) for one in document["kernels"] for found in one["findings"]]
    expected += [(None, found["rule"]) for found in document["findings"]]
    assert [(row["kernel"], row["rule"]) for row in report.findings.rows()] == expected


def test_launches_add_up_to_the_run(report: rooflint.Report) -> None:
    assert len(report.launches) == 46
    assert math.isclose(sum(report.launches["duration_s"]), report.totals["measured_s"][0])


def test_what_is_missing_is_null_and_columns_say_their_units(report: rooflint.Report) -> None:
    assert report.kernels["operator"] == [None] * 13
    assert report.kernels.about("measured_s") == "[s] measured time of all launches"
    with pytest.raises(KeyError):
        report.kernels["no such column"]


@pytest.mark.parametrize("name", ["kernels", "launches", "findings", "totals"])
def test_polars_reads_every_table(report: rooflint.Report, name: str) -> None:
    polars = pytest.importorskip("polars")
    table: rooflint.Table = getattr(report, name)
    frame = polars.DataFrame(table)
    assert frame.columns == table.columns
    assert frame.to_dicts() == list(table.rows())
    # A stream can be asked for again.
    assert polars.DataFrame(table).equals(table.to_polars())


@pytest.mark.parametrize("name", ["kernels", "launches", "findings", "totals"])
def test_pyarrow_reads_every_table_with_its_units(report: rooflint.Report, name: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table: rooflint.Table = getattr(report, name)
    read = pyarrow.table(table)
    read.validate(full=True)
    assert read.to_pylist() == list(table.rows())
    if name == "kernels":
        about = read.schema.field("measured_s").metadata[b"description"]
        assert about == b"[s] measured time of all launches"


@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_pandas_reads_tables(
    report: rooflint.Report, has_pyarrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    if not has_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = report.kernels.to_pandas()
    assert list(frame.columns) == report.kernels.columns
    assert math.isclose(frame["measured_s"].sum(), 0.048837696)


def test_duckdb_queries_a_table_by_its_variable(report: rooflint.Report) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    kernels = report.kernels
    rows = duckdb.sql("select count(*), sum(launches) from kernels").fetchall()
    assert rows == [(len(kernels), 46)]


def test_a_table_outlives_its_report() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    kernels = rooflint.demo().kernels
    read = pyarrow.table(kernels)
    del kernels
    assert read.num_rows == 13


def test_files_are_written_by_their_endings(report: rooflint.Report, tmp_path: Path) -> None:
    names = ["a.html", "a.md", "a.json", "a.csv", "a.txt", "a.svg", "a.png"]
    report.save(*(tmp_path / name for name in names))
    assert (tmp_path / "a.html").read_text().startswith("<!")
    assert (tmp_path / "a.html").read_text() == report.to_html()
    assert (tmp_path / "a.json").read_text() == report.to_json()
    assert (tmp_path / "a.svg").read_text() == report.figure().svg
    assert (tmp_path / "a.png").read_bytes() == report.figure().png()
    with pytest.raises(rooflint.UsageError, match="no report format has this ending"):
        report.save(tmp_path / "a.xyz")
    with pytest.raises(rooflint.UsageError, match="standard output is the calling program's"):
        report.save("-")


def test_a_notebook_shows_the_picture_and_the_brief(report: rooflint.Report) -> None:
    shown = report._repr_html_()
    # Its table stands in columns, in every notebook.
    assert '<pre style="font: 12px/1.35 monospace' in shown
    assert "<svg" in shown and "Savings" in shown
    assert report.figure("kernels", size=(640, 480), theme="dark")._repr_svg_() != report.figure().svg
    assert "transpose_naive_kernel&lt;bf16&gt;" in report.kernels._repr_html_()
    assert repr(report) == (
        "<rooflint.Report: 48.8 ms in 46 launches of 13 kernels on H100 SXM5 80GB>"
    )
    assert str(report).startswith("GPU time")


def test_kernels_are_found_and_explained(report: rooflint.Report) -> None:
    (row,) = report.find("transpose")
    assert row["rank"] == 1
    assert len(report.find("nvjet*")) == sum("nvjet" in name for name in report.kernels["name"])
    assert "transpose_naive_kernel" in report.explain("#1")
    assert report.explain("#1") == report.explain()
    assert max(map(len, report.explain(width=90).splitlines())) <= 90


def test_metrics_are_names_that_trackers_accept(report: rooflint.Report) -> None:
    metrics = report.metrics()
    assert metrics["gpu_time_seconds"] == 0.048837696
    assert all(name.isidentifier() and len(name) <= 250 for name in metrics)
    assert all(math.isfinite(value) for value in metrics.values())


def test_options_are_those_of_the_command_line(sample: Path) -> None:
    other = rooflint.analyze(sample, "A100 SXM4 80GB", threshold=3.0, kernel=["nvjet*", "#1"], select="uncoalesced-access")
    assert set(other.kernels["device"]) == {"A100 SXM4 80GB"}
    assert other.to_dict()["settings"]["threshold"] == 3.0
    assert {row["rule"] for row in other.findings.rows()} <= {"uncoalesced-access"}
    projected = rooflint.analyze(sample, what_if="H200 SXM 141GB").to_dict()["what_if"]
    assert any("H200" in one["change"] for one in projected)


def test_several_inputs_are_one_report(here: Path) -> None:
    assert rooflint.analyze(["run.csv", here / "main.csv"]).totals["launches"] == [92]


def test_ctrl_c_ends_the_reading(tmp_path: Path) -> None:
    # A pipe that nobody writes to is read without end.
    pipe = tmp_path / "pipe.csv"
    try:
        os.mkfifo(pipe)
    except (AttributeError, OSError):
        pytest.skip("no named pipes here")
    writer = os.open(pipe, os.O_RDWR)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        rooflint.analyze(pipe)
    assert time.monotonic() - start < 5
    os.write(writer, b"\n")
    os.close(writer)


def test_other_threads_run_meanwhile(tmp_path: Path, sample: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    try:
        os.mkfifo(pipe)
    except (AttributeError, OSError):
        pytest.skip("no named pipes here")
    # This thread writes what the other one reads: with the lock held, neither would go on.
    threading.Thread(target=lambda: pipe.write_bytes(sample.read_bytes())).start()
    assert len(rooflint.analyze(pipe).kernels) == 13


def test_a_document_is_json(report: rooflint.Report) -> None:
    assert report.to_dict() == json.loads(report.to_json())


def test_ranks_are_those_of_the_table(here: Path) -> None:
    report = rooflint.analyze("run.csv", kernel="nvjet*")
    ranks = report.kernels["rank"]
    assert ranks[0] != 1
    for rank in ranks:
        (row,) = report.find(f"#{rank}")
        assert row["rank"] == rank
    with pytest.raises(rooflint.UsageError, match="no kernel #1"):
        report.find("#1")


def test_a_picture_is_saved_as_a_picture(here: Path) -> None:
    figure = rooflint.analyze("run.csv").figure()
    for name in ("fig.html", "fig.csv", "csv=fig.svg"):
        with pytest.raises(rooflint.UsageError, match="a picture is not written as another"):
            figure.save(name)
    figure.save("fig.svg")
    assert (here / "fig.svg").read_text().startswith("<svg")


def test_an_explanation_has_formats_of_its_own(here: Path) -> None:
    report = rooflint.analyze("run.csv")
    with pytest.raises(rooflint.UsageError, match="no format \"md\""):
        report.explain("#1", format="md")
    assert report.explain("#1", format="markdown").startswith("## ")


def test_every_column_says_what_it_means(here: Path) -> None:
    report = rooflint.analyze("run.csv")
    for table in (report.kernels, report.launches, report.findings, report.totals):
        assert not [name for name in table if not table.about(name)]
    assert "measured_s" in report.totals and 0 not in report.totals
    with pytest.raises(TypeError, match="by its name, not by int"):
        report.totals[0]  # type: ignore[index]
