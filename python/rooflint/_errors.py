"""Errors, in the words of the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Optional


class Error(Exception):
    """What the program would print as ``error:`` and ``help:``, with the keys of ``--error-format json``."""

    #: What went wrong; the place is a part of it.
    message: str
    #: The next step, if there is one to name.
    advice: Optional[str]
    #: What kind of error it is, such as ``"usage"``, ``"device"`` or ``"input"``; ``None`` for the verdict of a gate.
    code: Optional[str]
    #: The file that it is about.
    file: Optional[str]
    #: Line in the file, counted from 1.
    line: Optional[int]
    #: Character in the line, counted from 1.
    column: Optional[int]
    #: The column of a table, by its name.
    field: Optional[str]
    #: What was considered, such as why no format fits.
    considered: Sequence[str]
    #: The exit code of the program for it.
    exit_code: int = 2

    def __init__(
        self,
        message: str,
        advice: Optional[str] = None,
        *,
        code: Optional[str] = None,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        field: Optional[str] = None,
        considered: Sequence[str] = (),
    ) -> None:
        super().__init__(message if advice is None else f"{message}\nhelp: {advice}")
        self.message = message
        self.advice = advice
        self.code = code
        self.file = file
        self.line = line
        self.column = column
        self.field = field
        self.considered = considered

    def __reduce__(self) -> tuple[type, tuple[str, Optional[str]], dict[str, object]]:
        # Errors cross processes, such as those of parallel test runners.
        return type(self), (self.message, self.advice), self.__dict__


class GateFailed(Error):
    """The gate failed: a kernel became slower, or a bound is violated. Exit code 1."""

    exit_code = 1


class UsageError(Error, ValueError):
    """An argument, the configuration or a device is wrong. Exit code 2."""

    exit_code = 2


class InputError(Error):
    """An input cannot be read, or holds no kernel. Exit code 3."""

    exit_code = 3


class Inconclusive(Error):
    """The data cannot decide, and the policy demands an answer. Exit code 4."""

    exit_code = 4


def kind(exit_code: int) -> type[Error]:
    """The class of errors with an exit code."""
    kinds: dict[int, type[Error]] = {1: GateFailed, 3: InputError, 4: Inconclusive}
    return kinds.get(exit_code, UsageError)


def refused(problem: str) -> Error:
    """The error of a command, from its JSON."""
    keys = json.loads(problem)
    for key in ("schema", "level"):
        del keys[key]
    return kind(keys.pop("exit_code"))(**keys)
