"""The program: ``rooflint`` and ``python -m rooflint``."""

from __future__ import annotations

import signal
import sys

from . import _rooflint


def main() -> int:
    """Runs the command line of this process and returns its exit code."""
    # Ctrl-C ends the program at once, as it ends any other; Python's own handler would wait for native code.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _rooflint.main(["rooflint", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
