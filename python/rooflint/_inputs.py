"""What is given as a profile: paths, bytes, files, and objects of other libraries."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections import deque
from collections.abc import Iterator, KeysView, Set, ValuesView
from itertools import count
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from ._answers import Report
    from ._rooflint import Answer

Profile = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, "Report", Any]


class Inputs:
    """Profiles by the names that stand for them, as the native part takes them."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.contents: dict[str, bytes] = {}
        self.runs: dict[str, Answer] = {}

    def add(self, given: Any) -> list[str]:
        """Adds one profile, or each of several, and returns their names."""
        if _is_several(given):
            return [name for one in given for name in self.add(one)]
        name = self._one(given)
        self.names.append(name)
        return [name]

    def _one(self, given: Any) -> str:
        from ._answers import Report

        if isinstance(given, Report):
            name = self._free("report")
            self.runs[name] = given._answer
            return name
        if isinstance(given, (str, os.PathLike)):
            return os.fspath(given)
        label, content = _content(given)
        name = self._free(label)
        self.contents[name] = content
        return name

    def _free(self, label: str) -> str:
        """A name that nothing else has."""
        for number in count(1):
            name = f"<{label}>" if number == 1 else f"<{label} {number}>"
            taken = name in self.contents or name in self.runs or name in self.names or os.path.lexists(name)
            if not taken:
                break
        return name


def _is_several(given: Any) -> bool:
    """Whether these are profiles, not one: a list, a set, or what gives one after another."""
    if isinstance(given, (list, tuple)):
        return not _is_tree(given)
    return isinstance(given, (Set, Iterator, ValuesView, KeysView, deque)) and not hasattr(given, "read")


def _is_tree(given: Any) -> bool:
    """Whether a list is the tree of a Proton session, not a list of profiles."""
    return bool(given) and isinstance(given[0], dict)


def _content(given: Any) -> tuple[str, bytes]:
    """What a file of this object would hold, with a label for it."""
    from ._answers import _Written

    if isinstance(given, bytes):
        return "bytes", given
    if isinstance(given, (bytearray, memoryview)):
        return "bytes", bytes(given)
    if isinstance(given, _Written):
        raise TypeError(f"a {type(given).__name__} is not a profile: reports go to compare() and gate()")
    if hasattr(given, "export_chrome_trace"):
        return "torch.profiler", _trace(given)
    if isinstance(given, (dict, list, tuple)):
        # The tree of a Proton session, or a trace that was loaded.
        return "json", json.dumps(given).encode()
    if hasattr(given, "to_dataframe"):
        # A result of nsight-python.
        given = given.to_dataframe()
    table = _table(given)
    if table is not None:
        return "table", table
    if callable(getattr(given, "read", None)) and not hasattr(given, "namelist"):
        content = given.read()
        label = os.path.basename(str(getattr(given, "name", "file")))
        if isinstance(content, str):
            return label, content.encode()
        if isinstance(content, (bytes, bytearray, memoryview)):
            return label, bytes(content)
        raise TypeError(f"{label}: read() gave {type(content).__name__}, not bytes or text")
    raise TypeError(
        f"cannot read a profile from {type(given).__name__}: give a path, bytes, a file, a torch.profiler profile, "
        "a data frame of metrics, or the tree of a Proton session"
    )


def _trace(profile: Any) -> bytes:
    """The Chrome trace of a profile of torch.profiler, which writes it only to a path."""
    with tempfile.TemporaryDirectory(prefix="rooflint-") as folder:
        path = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(path)
        with open(path, "rb") as file:
            return file.read()


def _table(given: Any) -> Union[bytes, None]:
    """A data frame as CSV: of polars, of pandas, or of any library that speaks Arrow."""
    if hasattr(given, "collect") and hasattr(given, "sink_csv"):
        given = given.collect()
    if hasattr(given, "write_csv") and hasattr(given, "lazy"):
        text = given.write_csv()
        return str(text).encode()
    if hasattr(given, "to_csv") and hasattr(given, "reset_index"):
        # Levels of an index that have names are columns, as after groupby; a plain one numbers the rows.
        named = [name for name in given.index.names if name is not None]
        return str((given.reset_index(named) if named else given).to_csv(index=False)).encode()
    if hasattr(given, "__arrow_c_stream__"):
        try:
            import pyarrow
            from pyarrow import csv
        except ImportError:
            raise TypeError(
                f"{type(given).__name__} needs pyarrow: install it, or give a frame of pandas or polars"
            ) from None
        sink = io.BytesIO()
        csv.write_csv(pyarrow.table(given), sink)
        return sink.getvalue()
    return None
