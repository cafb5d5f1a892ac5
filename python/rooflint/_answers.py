"""Results: reports, comparisons, predictions, and their tables and figures."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Optional, Union

from ._errors import kind
from ._rooflint import Answer, Frame

if TYPE_CHECKING:
    import pandas
    import polars

Path = Union[str, "os.PathLike[str]"]
Subject = Literal["roofline", "kernels", "categories", "opportunities"]
Theme = Literal["light", "dark"]
Cell = Union[str, bool, int, float, None]

#: Rows that a notebook shows of a table.
SHOWN = 20


class Table:
    """Rows and typed columns, SI units in the column names; a missing cell is ``None``.

    Implements the Arrow PyCapsule interface, so ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and
    ``pandas.DataFrame.from_arrow(table)`` read it, and DuckDB queries it by the name of its variable.
    """

    __slots__ = ("_frame", "_name")

    def __init__(self, name: str, frame: Frame) -> None:
        self._name = name
        self._frame = frame

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return self._frame.names()

    def about(self, column: str) -> Optional[str]:
        """Unit and meaning of a column, such as ``[s] measured time of all launches``."""
        return self._frame.about(column)

    def __len__(self) -> int:
        return len(self._frame)

    def __getitem__(self, column: str) -> list[Any]:
        """The cells of a column."""
        if not isinstance(column, str):
            raise TypeError(f"a column is chosen by its name, not by {type(column).__name__}; rows() gives the rows")
        return self._frame.column(column)

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __iter__(self) -> Iterator[str]:
        """The names of the columns, as of a data frame."""
        return iter(self.columns)

    def rows(self) -> Iterator[dict[str, Cell]]:
        """The rows, each as a dictionary by column."""
        names = self.columns
        for cells in zip(*(self[name] for name in names)):
            yield dict(zip(names, cells))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows through Arrow's C stream interface, in one batch."""
        return self._frame.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas, which must be installed."""
        import pandas

        try:
            return pandas.DataFrame.from_arrow(self)
        except (AttributeError, ImportError):
            # Before pandas 3, or without pyarrow, through which pandas reads Arrow.
            return pandas.DataFrame({name: self[name] for name in self.columns})

    def to_polars(self) -> polars.DataFrame:
        """A data frame of polars, which must be installed."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return f"<rooflint.Table {self._name}: {len(self)} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        def shown(cell: Cell) -> str:
            if cell is None:
                return "-"
            return f"{cell:.4g}" if isinstance(cell, float) else html.escape(str(cell))

        names = self.columns
        head = "".join(f'<th title="{html.escape(self.about(name) or "")}">{html.escape(name)}</th>' for name in names)
        rows = [cells for cells, _ in zip(zip(*(self[name] for name in names)), range(SHOWN))]
        body = "".join("<tr>" + "".join(f"<td>{shown(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        more = f"<p>{len(self) - SHOWN} more rows</p>" if len(self) > SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class Figure:
    """A picture; a notebook shows it."""

    def __init__(self, answer: Answer, drawing: list[str]) -> None:
        self._answer = answer
        self._drawing = drawing
        #: The picture as SVG.
        self.svg: str = answer.picture(drawing, False).decode()

    def png(self) -> bytes:
        """The picture as PNG."""
        return self._answer.picture(self._drawing, True)

    def save(self, path: Path) -> None:
        """Writes the picture as ``.svg`` or ``.png``."""
        self._answer.save([os.fspath(path)], False, False, self._drawing)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<rooflint.Figure {' '.join(word.lstrip('-') for word in self._drawing)}>"


class _Written:
    """What every answer is written to."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def to_text(self, *, full: bool = False, full_names: bool = False, width: Optional[int] = None) -> str:
        """The text as a terminal shows it: the brief, or all sections.

        ``width`` is the number of columns; ``full_names`` keeps kernel names as the profiler wrote them.
        """
        return self._answer.written("text", full, full_names, width)

    def to_markdown(self, *, full: bool = False, full_names: bool = False) -> str:
        """The report as Markdown."""
        return self._answer.written("markdown", full, full_names)

    def to_html(self) -> str:
        """A page in one file, without network; that of a run is interactive."""
        return self._answer.written("html")

    def to_json(self) -> str:
        """Everything, for programs: a versioned document with a published schema, units in the keys."""
        return self._answer.written("json")

    def to_csv(self) -> str:
        """The main table as CSV, units in the headers."""
        return self._answer.written("csv")

    def to_dict(self) -> Any:
        """The document of :meth:`to_json`, parsed."""
        return json.loads(self.to_json())

    def save(self, *paths: Path, full: bool = False, full_names: bool = False) -> None:
        """Writes files, each in the format of its ending, as ``-o`` does: ``report.html``, ``report.md``.

        A format can be named: ``junit=gate.xml``. A file appears whole or not at all.
        """
        self._answer.save([os.fspath(path) for path in paths], full, full_names, [])

    def _table(self, name: str) -> Table:
        return Table(name, self._answer.table(name))

    #: Columns of the text where nobody asks for another number.
    _width = 100

    def __str__(self) -> str:
        return self.to_text(width=self._width)

    def _repr_html_(self) -> str:
        # Notebooks show text in a proportional font unless told otherwise.
        style = "font: 12px/1.35 monospace; white-space: pre; overflow-x: auto"
        return f'<pre style="{style}">{html.escape(str(self))}</pre>'


class _Drawn(_Written):
    """What there is a picture of."""

    def figure(
        self,
        subject: Subject = "roofline",
        *,
        size: Optional[tuple[int, int]] = None,
        theme: Theme = "light",
    ) -> Figure:
        """A picture: ``roofline``, ``kernels``, ``categories`` or ``opportunities``.

        ``size`` is width and height in pixels. A prediction has one picture, whatever the subject.
        """
        drawing = [f"--figure={subject}", f"--theme={theme}"]
        if size is not None:
            drawing.append(f"--size={size[0]}x{size[1]}")
        return Figure(self._answer, drawing)

    def _repr_html_(self) -> str:
        return f"<div>{self.figure().svg}</div>{super()._repr_html_()}"


class Report(_Drawn):
    """A judged run: every kernel compared with its roofline, with the causes of what it loses."""

    @cached_property
    def kernels(self) -> Table:
        """A row per kernel, by potential savings: times in seconds, bytes, rooflines, verdicts."""
        return self._table("kernels")

    @cached_property
    def launches(self) -> Table:
        """A row per launch as it was measured: times in seconds, bytes, operations, clocks in hertz."""
        return self._table("launches")

    @cached_property
    def findings(self) -> Table:
        """A row per finding, with the time at stake in seconds and the next step."""
        return self._table("findings")

    @cached_property
    def totals(self) -> Table:
        """One row: measured, roofline and saved time of the run in seconds."""
        return self._table("totals")

    def find(self, kernel: str) -> list[dict[str, Cell]]:
        """Rows of :attr:`kernels` by a name or a part of it, a category, a pattern with ``*``, or a rank such as ``#2``.

        Raises :class:`UsageError` with the nearest name if there is none.
        """
        found = set(self._answer.found(kernel))
        return [row for place, row in enumerate(self.kernels.rows()) if place in found]

    def explain(self, *kernels: str, format: str = "text", width: Optional[int] = None) -> str:
        """The arithmetic of kernels, line by line; of the first without a name. ``width`` is the number of columns."""
        return self._answer.explained(list(kernels), format, width)

    def metrics(self) -> dict[str, float]:
        """Flat names and numbers that MLflow, Weights & Biases and TensorBoard accept; units are in the names."""
        return _metrics(self._answer)

    def __repr__(self) -> str:
        first = self.to_text().partition("\n")[0]
        return f"<rooflint.Report: {first.split('  ')[-1].strip()}>"


class Comparison(_Written):
    """Two sides, compared kernel by kernel."""

    #: So that no column of the table is left out.
    _width = 140

    @property
    def outcome(self) -> str:
        """``passed``, ``failed``, ``inconclusive``, ``nothing measured`` or ``different devices``."""
        return self._decision()[0]

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        return self._decision()[1]

    @cached_property
    def checks(self) -> Table:
        """A row per check: kernel, metric, values before and after, change, verdict."""
        return self._table("checks")

    def metrics(self) -> dict[str, float]:
        """Figures of the current side by flat names, as :meth:`Report.metrics`."""
        return _metrics(self._answer)

    def _decision(self) -> tuple[str, str, int]:
        decision = self._answer.decision()
        assert decision is not None
        return decision

    def __repr__(self) -> str:
        return f"<rooflint.{type(self).__name__}: {self.outcome}; {self.reason}>"


class Decision(Comparison):
    """The result of a gate."""

    @property
    def exit_code(self) -> int:
        """The exit code of ``rooflint gate``: 0 passed, 1 failed, 2 different devices, 3 nothing measured, 4 inconclusive."""
        return self._decision()[2]

    @property
    def passed(self) -> bool:
        """Whether ``rooflint gate`` would exit with 0."""
        return self.exit_code == 0

    def check(self) -> None:
        """Raises :class:`GateFailed` or another :class:`Error` unless the gate passed."""
        if not self.passed:
            raise kind(self.exit_code)(f"gate {self.outcome}: {self.reason}")


class Prediction(_Drawn):
    """Roofline times of a kernel or a step on devices, without a profile."""

    @cached_property
    def table(self) -> Table:
        """A row per point and device: times in seconds, bytes, operations, the limiter."""
        return self._table("predictions")

    @property
    def roofline_s(self) -> float:
        """The roofline time in seconds, of a prediction with one row."""
        times = self.table["roofline_s"]
        if len(times) != 1:
            raise ValueError(f"this prediction has {len(times)} rows: use `table`")
        return float(times[0])

    def __repr__(self) -> str:
        return f"<rooflint.Prediction: {len(self.table)} rows>"


def _metrics(answer: Answer) -> dict[str, float]:
    text = answer.metrics()
    return {} if text is None else json.loads(text)
