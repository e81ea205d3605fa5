"""The command line: `gangsaw`. One file per command; heavy imports happen inside the commands."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    from gangsaw.codecs.core.errors import BadParams
    from gangsaw.codecs.core.plugins.extras import extras_named

    with _plugins_in_a_line():
        try:
            with extras_named():
                from gangsaw.cli.app import main as run  # reads plugin tables for --help
        except BadParams as error:
            sys.stderr.write(f"gangsaw: {error}\n")
            return 2  # the code of `app.main`, which could not be imported
        return run(argv)


@contextmanager
def _plugins_in_a_line() -> Iterator[None]:
    """Print a warning about a skipped plugin in one line; leave other warnings unchanged."""
    from gangsaw.codecs.core.plugins.entry_points import PluginWarning

    show = warnings.showwarning

    def in_a_line(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, PluginWarning):
            sys.stderr.write(f"gangsaw: warning: {' '.join(str(message).split())}\n")
        else:
            show(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.showwarning = in_a_line
        yield
