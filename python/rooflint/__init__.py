"""How fast could each GPU kernel run, and how much time can you save?

rooflint reads the export of a GPU profiler, compares every kernel with the roofline of its GPU, and ranks kernels by
potential savings::

    import rooflint

    report = rooflint.analyze("run.csv")
    report.save("report.html")
    report.kernels.to_pandas()

Times are in seconds, bytes in bytes, rates per second, shares from 0 to 1; the names of columns and keys end in the
unit. A missing value is ``None`` or null, never 0 or NaN.
"""

from __future__ import annotations

from ._answers import Comparison, Decision, Figure, Prediction, Report, Table
from ._calls import analyze, compare, demo, device, devices, gate, predict
from ._errors import Error, GateFailed, Inconclusive, InputError, UsageError
from ._rooflint import VERSION as __version__

__all__ = [
    "Comparison",
    "Decision",
    "Error",
    "Figure",
    "GateFailed",
    "Inconclusive",
    "InputError",
    "Prediction",
    "Report",
    "Table",
    "UsageError",
    "__version__",
    "analyze",
    "compare",
    "demo",
    "device",
    "devices",
    "gate",
    "predict",
]
