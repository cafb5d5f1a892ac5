"""Holds kernels to a roofline budget in tests, by the marker or the fixture ``roofline_budget``.

A test is skipped where there is no profile, and fails where a kernel is farther from its roofline than allowed, slower
than its baseline by more than allowed, or not in the profile at all.
"""

from __future__ import annotations

import glob
import math
import os
from numbers import Real
from typing import Any, Callable, Optional
from weakref import WeakKeyDictionary

import pytest

#: What a kernel is held to, and where the profile is when the test does not say.
OPTIONS = {
    "profile": "the profile that roofline budgets are checked on",
    "baseline": "the profile that roofline budgets compare with",
    "device": "the GPU of profiles that do not name it",
}

#: States of kernels that the roofline says nothing of.
UNJUDGED = {"launch_bound", "cache_resident", "communication_copy", "faster_than_roofline", "not_enough_data"}

Budget = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("roofline")
    for name, about in OPTIONS.items():
        group.addoption(f"--roofline-{name}", metavar=name.upper(), help=about)
        parser.addini(f"roofline_{name}", help=about)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "roofline_budget(kernel, at_least=None, at_most_slower=None, profile=None, baseline=None, device=None): "
        "fail unless the kernel reaches this share of its roofline, or is at most this much slower than its baseline",
    )


# A hook of its own before that which runs the test, as any version of pytest has it: a budget that is exceeded keeps
# the test from running.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    # Marks closest to the test come first; they are checked as they are written, from the top.
    for mark in reversed(list(item.iter_markers("roofline_budget"))):
        check(item.config, *mark.args, **mark.kwargs)


@pytest.fixture
def roofline_budget(request: pytest.FixtureRequest) -> Budget:
    """Checks a kernel against a budget: ``roofline_budget("attention", at_least=0.6)``.

    ``at_least`` is the share of the roofline that every kernel of this name must reach, from 0 to 1: roofline time over
    measured time. ``at_most_slower`` is the relative change of the mean time of a launch that is allowed from
    ``baseline`` on: 0.05 is 5%. ``profile`` and ``baseline`` are anything that ``rooflint.analyze`` takes; without
    them, ``--roofline-profile``, the setting ``roofline_profile`` and the variable ``ROOFLINT_PROFILE`` name a file.
    """

    def budget(kernel: str, **limits: Any) -> None:
        __tracebackhide__ = True
        check(request.config, kernel, **limits)

    return budget


def check(
    config: pytest.Config,
    kernel: str,
    *,
    at_least: Optional[float] = None,
    at_most_slower: Optional[float] = None,
    profile: Any = None,
    baseline: Any = None,
    device: Optional[str] = None,
) -> None:
    """Fails the test that runs unless the kernel keeps to its budget; skips it where there is no profile."""
    __tracebackhide__ = True
    if at_least is None and at_most_slower is None:
        raise pytest.UsageError("roofline_budget needs at_least=0.6 or at_most_slower=0.05")
    if at_least is not None and not (_is_number(at_least) and 0 < at_least <= 1):
        raise pytest.UsageError(f"at_least is a share of the roofline above 0 and up to 1, such as 0.6, not {at_least!r}")
    if at_most_slower is not None and not (_is_number(at_most_slower) and at_most_slower > -1):
        raise pytest.UsageError(f"at_most_slower is a relative change such as 0.05, not {at_most_slower!r}")
    device = device or _setting(config, "device")
    report = _report(config, profile, "profile", device)
    rows = _find(report, kernel)
    problems = []
    if at_least is not None:
        problems += [problem for row in rows for problem in _below(row, at_least)]
    if at_most_slower is not None:
        try:
            earlier = _report(config, baseline, "baseline", device)
        except pytest.skip.Exception:
            # What is known already fails.
            if problems:
                pytest.fail("\n".join(problems), pytrace=False)
            raise
        problems += _slower(kernel, _find(earlier, kernel), rows, at_most_slower)
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def _setting(config: pytest.Config, name: str) -> Optional[str]:
    """An option of pytest, a setting of its file, or a variable of the environment."""
    given = config.getoption(f"--roofline-{name}") or config.getini(f"roofline_{name}")
    return given or os.environ.get(f"ROOFLINT_{name.upper()}") or None


def _report(config: pytest.Config, given: Any, name: str, device: Optional[str]) -> Any:
    """The report of a profile; files are read once for all tests."""
    import rooflint

    given = _setting(config, name) if given is None else given
    if given is None:
        pytest.skip(f"no {name}: give --roofline-{name} FILE, or {name}= in the test")
    if isinstance(given, rooflint.Report):
        return given
    if not isinstance(given, (str, os.PathLike)):
        return rooflint.analyze(given, device)
    path = os.path.join(config.rootpath, os.fspath(given))
    files = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not files:
        pytest.skip(f"no {name}: {os.fspath(given)} does not exist")
    # A test may write its profile anew.
    states = ((file, os.stat(file)) for file in files)
    key = (path, device, tuple((file, state.st_mtime_ns, state.st_size) for file, state in states))
    known = _REPORTS.setdefault(config, {})
    if key not in known:
        known[key] = rooflint.analyze(path, device)
    return known[key]


#: Reports of the files of a session.
_REPORTS: WeakKeyDictionary[pytest.Config, dict[Any, Any]] = WeakKeyDictionary()


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _find(report: Any, kernel: str) -> list[dict[str, Any]]:
    import rooflint

    try:
        return report.find(kernel)  # type: ignore[no-any-return]
    except rooflint.UsageError as error:
        unknown = str(error)
    # A kernel that was renamed must not pass.
    pytest.fail(unknown, pytrace=False)


def _below(row: dict[str, Any], at_least: float) -> list[str]:
    """What is wrong with a kernel that must reach a share of its roofline."""
    headroom = row["headroom"]
    if headroom is None or row["state"] in UNJUDGED:
        return [f"{row['name']}: no roofline to compare with ({row['state']}), at least {at_least:.0%} is required"]
    share = 1 / headroom
    if share >= at_least:
        return []
    measured, ideal = _time(row["measured_s"]), _time(row["roofline_s"])
    return [
        f"{row['name']}: {share:.1%} of its roofline, at least {at_least:.0%} is required "
        f"(measured {measured}, roofline {ideal}, {row['launches']} launches)"
    ]


def _slower(kernel: str, before: list[dict[str, Any]], after: list[dict[str, Any]], limit: float) -> list[str]:
    """What is wrong with kernels that must keep the mean time of a launch."""
    devices = [{row["device"] for row in rows} for rows in (before, after)]
    if devices[0] != devices[1]:
        ran = [" and ".join(sorted(map(str, names))) for names in devices]
        return [f"{kernel}: the baseline ran on {ran[0]}, the profile on {ran[1]}: their times cannot be compared"]
    means = []
    for side, rows in (("the baseline", before), ("the profile", after)):
        if any(row["measured_s"] is None for row in rows):
            return [f"{kernel}: {side} has no times of it"]
        means.append(sum(row["measured_s"] for row in rows) / sum(row["launches"] for row in rows))
    old, new = means
    change = new / old - 1
    if change <= limit:
        return []
    return [
        f"{kernel}: {change:+.1%} per launch, at most {limit:+.1%} is allowed "
        f"(baseline {_time(old)}, now {_time(new)})"
    ]


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
