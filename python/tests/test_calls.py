"""Comparisons, gates, predictions, devices, errors and the program itself."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pickle
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import rooflint


def program() -> Path:
    return Path(sysconfig.get_path("scripts")) / ("rooflint.exe" if os.name == "nt" else "rooflint")


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([program(), *words], capture_output=True, text=True, encoding="utf-8")


def test_a_comparison_takes_reports_and_files(here: Path) -> None:
    now, main = rooflint.analyze("run.csv"), rooflint.analyze("main.csv")
    by_report, by_path = rooflint.compare(now, main), rooflint.compare("run.csv", "main.csv")
    assert list(by_report.checks.rows()) == list(by_path.checks.rows())
    (row,) = [row for row in by_path.checks.rows() if "softmax" in str(row["kernel"])]
    assert row["change"] == pytest.approx(1 / 0.8 - 1, abs=0.01)
    assert row["unit"] == "s" and row["after"] > row["before"]  # type: ignore[operator]


def test_repeated_runs_measure_the_noise(here: Path) -> None:
    from conftest import copy

    before = [copy(here / f"before-{run}.csv", 1 + run / 1000) for run in range(3)]
    after = [copy(here / f"after-{run}.csv", 1 + run / 1000 + 0.0005) for run in range(3)]
    decision = rooflint.gate(after, [rooflint.analyze(path) for path in before])
    assert decision.passed and decision.exit_code == 0
    decision.check()
    slow = [copy(here / f"slow-{run}.csv", 1.4 + run / 1000, "softmax") for run in range(3)]
    decision = rooflint.gate(slow, before)
    assert (decision.outcome, decision.exit_code) == ("failed", 1)
    with pytest.raises(rooflint.GateFailed, match="gate failed"):
        decision.check()
    assert decision.metrics()["gate_not_passed"] == 1
    decision.save(here / "gate.md", f"junit={here / 'gate.xml'}")
    assert (here / "gate.xml").read_text().startswith("<?xml")
    outcome = rooflint.compare(slow, before)
    assert [row["verdict"] for row in outcome.checks.rows() if "softmax" in str(row["kernel"])] == ["regression"]


def test_a_gate_says_what_the_program_says(here: Path) -> None:
    found = run("gate", "run.csv", "--baseline", "main.csv", "-o", "gate.json", "-o", "-")
    decision = rooflint.gate("run.csv", "main.csv")
    assert decision.exit_code == found.returncode
    own = decision.to_dict()
    theirs = json.loads((here / "gate.json").read_text())
    assert own["checks"] == theirs["checks"] and own["reason"] == theirs["reason"]
    with pytest.raises(rooflint.UsageError, match="gate needs a baseline"):
        rooflint.gate("run.csv")


def test_a_prediction_is_that_of_the_arithmetic() -> None:
    prediction = rooflint.predict("gemm", m=4096, n=4096, k=4096, dtype="bf16", device="H100 SXM5 80GB")
    # 2 * 4096^3 operations at 989.4 TFLOP/s of dense bf16.
    assert prediction.roofline_s == pytest.approx(2 * 4096**3 / 989.4e12, rel=1e-3)
    assert prediction.table["limiter"] == ["math"]
    assert "<svg" in prediction.figure().svg


def test_a_prediction_takes_several_sizes_and_devices() -> None:
    prediction = rooflint.predict(
        "linear", batch=[1, 64, 4096], in_=4096, out=4096, dtype="bf16", device=["H100 SXM5 80GB", "L4"]
    )
    assert prediction.table["at_batch"] == ["1", "1", "64", "64", "4096", "4096"]
    with pytest.raises(ValueError, match="6 rows"):
        prediction.roofline_s


def test_devices_have_typed_peaks() -> None:
    devices = rooflint.devices()
    row = next(row for row in devices.rows() if row["name"] == "H100 SXM5 80GB")
    assert row["dram_bytes_per_s"] == pytest.approx(3.35e12, rel=0.01)
    assert rooflint.device("H100 SXM5 80GB")["name"] == "H100 SXM5 80GB"


@pytest.mark.parametrize(
    ("words", "call", "kind"),
    [
        (["no-such.csv"], lambda: rooflint.analyze("no-such.csv"), rooflint.InputError),
        (["run.csv", "--device", "H999"], lambda: rooflint.analyze("run.csv", "H999"), rooflint.UsageError),
        (["run.csv", "--select", "nope"], lambda: rooflint.analyze("run.csv", select="nope"), rooflint.UsageError),
        (
            ["predict", "gemm", "m=1", "--device", "L4"],
            lambda: rooflint.predict("gemm", m=1, device="L4"),
            rooflint.UsageError,
        ),
        # With a place in the file.
        (
            ["half.csv", "--device", "H200", "--strict"],
            lambda: rooflint.analyze("half.csv", "H200", strict=True),
            rooflint.InputError,
        ),
        (["run.csv", "--config", "wrong.toml"], lambda: rooflint.analyze("run.csv", config="wrong.toml"), rooflint.UsageError),
    ],
)
def test_errors_have_the_words_of_the_command_line(
    here: Path, root: Path, words: list[str], call: object, kind: type[rooflint.Error]
) -> None:
    (here / "half.csv").write_bytes((root / "fixtures" / "bad" / "unknown-unit.csv").read_bytes())
    (here / "wrong.toml").write_text("[analysis]\nthreshhold = 2\n")
    with pytest.raises(kind) as raised:
        call()  # type: ignore[operator]
    printed = run(*words)
    assert printed.returncode == raised.value.exit_code
    assert printed.stderr.startswith(f"error: {raised.value}\n")
    problem = json.loads(run(*words, "--error-format", "json").stderr)
    for key in ("message", "advice", "code", "file", "line", "column", "field", "considered", "exit_code"):
        assert getattr(raised.value, key) == problem[key], key
    if words[0] == "half.csv":
        assert raised.value.line and raised.value.field
    copied = pickle.loads(pickle.dumps(raised.value))
    assert str(copied) == str(raised.value) and type(copied) is kind and vars(copied) == vars(raised.value)


def test_settings_come_from_where_the_command_line_has_them(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def threshold(**options: object) -> object:
        return rooflint.analyze("run.csv", **options).to_dict()["settings"]["threshold"]  # type: ignore[arg-type]

    default = threshold()
    (here / "rooflint.toml").write_text("[analysis]\nthreshold = 3\n")
    (here / "other.toml").write_text("[analysis]\nthreshold = 4\n")
    assert [threshold(), threshold(config="other.toml"), threshold(config=False)] == [3, 4, default]
    monkeypatch.setenv("ROOFLINT_CONFIG", "other.toml")
    assert [threshold(), threshold(config="rooflint.toml"), threshold(config=False)] == [4, 3, default]
    monkeypatch.setenv("ROOFLINT_THRESHOLD", "5")
    assert [threshold(), threshold(config=False), threshold(threshold=6)] == [5, 5, 6]
    assert rooflint.analyze("run.csv").to_json() == run("run.csv", "--format", "json").stdout
    assert rooflint.demo().to_dict()["settings"]["threshold"] == 5
    monkeypatch.setenv("ROOFLINT_THRESHOLD", "0.5")
    with pytest.raises(rooflint.UsageError) as raised:
        rooflint.analyze("run.csv")
    assert raised.value.advice == "change or unset the environment variable ROOFLINT_THRESHOLD"


def test_an_option_that_is_wrong_is_named(here: Path) -> None:
    with pytest.raises(rooflint.UsageError, match="invalid value 'roof' for '--ceilings"):
        rooflint.analyze("run.csv", ceilings="roof")  # type: ignore[arg-type]
    with pytest.raises(rooflint.UsageError, match="invalid value 'pie'"):
        rooflint.demo().figure("pie")  # type: ignore[arg-type]


def test_a_file_may_be_called_like_an_option(here: Path) -> None:
    (here / "run.csv").rename(here / "--help")
    assert len(rooflint.analyze("--help").kernels) == 13


def test_one_version() -> None:
    assert importlib.metadata.version("rooflint") == rooflint.__version__
    assert run("--version").stdout == f"rooflint {rooflint.__version__}\n"
    as_module = subprocess.run([sys.executable, "-m", "rooflint", "--version"], capture_output=True, text=True)
    assert as_module.stdout == f"rooflint {rooflint.__version__}\n"


def test_the_program_prints_the_report(here: Path) -> None:
    found = run("run.csv", "-o", "report.html", "-o", "-")
    assert found.returncode == 0 and found.stdout.startswith("GPU time")
    # The command to type again is the program's, not the interpreter's.
    assert "rooflint run.csv -o report.html -o -" in (here / "report.html").read_text()
    assert rooflint.analyze("run.csv").to_json() == run("run.csv", "--format", "json").stdout


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_and_a_closed_pipe_end_the_program_as_any_other(here: Path) -> None:
    os.mkfifo(here / "pipe.csv")
    waiting = subprocess.Popen([program(), "pipe.csv"])
    with (here / "pipe.csv").open("wb"):
        # It has opened the pipe, and now waits for bytes.
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(10) == -signal.SIGINT
    shell = f"'{program()}' devices --format json; echo $? >&2"
    piped = subprocess.run(["sh", "-c", f"({shell}) | true"], capture_output=True, text=True)
    assert piped.stderr == "0\n"


def test_a_side_without_runs_is_no_pass(here: Path) -> None:
    none: list[str] = []
    with pytest.raises(rooflint.UsageError, match="the baseline has no runs"):
        rooflint.compare("run.csv", none)
    with pytest.raises(rooflint.UsageError, match="the current side has no runs"):
        rooflint.compare(none, "run.csv")
    with pytest.raises(ValueError, match="baseline: an empty list"):
        rooflint.gate("run.csv", [])


def test_a_named_baseline_of_a_store_is_found(here: Path) -> None:
    save = [sys.executable, "-m", "rooflint", "baseline", "save", "main.csv", "--store", "store", "--name", "nightly"]
    subprocess.run(save, check=True, capture_output=True)
    assert rooflint.gate("run.csv", "store", name="nightly").outcome == rooflint.gate("run.csv", "main.csv").outcome
    with pytest.raises(rooflint.InputError, match='is of baseline "other"'):
        rooflint.gate("run.csv", "store", name="other")


def test_options_are_texts_numbers_or_lists_of_them(here: Path) -> None:
    numpy = pytest.importorskip("numpy")
    assert rooflint.analyze("run.csv", threshold=numpy.float32(2), top=numpy.int64(3)).to_json() == rooflint.analyze(
        "run.csv", threshold=2.0, top=3
    ).to_json()
    with pytest.raises(ValueError, match="kernel: an empty list"):
        rooflint.analyze("run.csv", kernel=[])
    with pytest.raises(TypeError, match="device: bytes is not a value"):
        rooflint.analyze("run.csv", device=b"H100")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="m: bytes is not a size"):
        rooflint.predict("gemm", m=b"64", n=1, k=1, dtype="bf16", device="L4")


def test_several_runs_of_both_sides_have_no_command(here: Path, sample: Path) -> None:
    one = rooflint.compare("run.csv", "main.csv").to_dict()["command"]
    assert one == "rooflint diff -- main.csv run.csv"
    assert rooflint.compare(["run.csv"], ["main.csv", sample]).to_dict()["command"] is None
