"""Errors, in the words of the command line."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """What the program would print as ``error:`` and ``help:``."""

    #: What went wrong.
    message: str
    #: The next step, if there is one to name.
    help: Optional[str]
    #: The exit code of the program for it.
    exit_code: int = 2

    def __init__(self, message: str, help: Optional[str] = None) -> None:
        super().__init__(message if help is None else f"{message}\nhelp: {help}")
        self.message = message
        self.help = help

    def __reduce__(self) -> tuple[type, tuple[str, Optional[str]]]:
        # Errors cross processes, such as those of parallel test runners.
        return type(self), (self.message, self.help)


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


def refused(code: int, message: str, help: Optional[str]) -> Error:
    """Returns the error for an exit code."""
    kinds: dict[int, type[Error]] = {1: GateFailed, 3: InputError, 4: Inconclusive}
    return kinds.get(code, UsageError)(message, help)
