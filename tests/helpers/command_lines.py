"""Command lines in files of others: whether the programs that they call know all of it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from gangsaw.cli.app import app


def check(command: Sequence[str]) -> None:
    """Raise what click raises for an option that is not known, or one that is missing."""
    program, name, *arguments = command
    found: Any
    if program == "dask":
        found = import_module(f"distributed.cli.dask_{name}").main
    else:
        assert program == "gangsaw"
        found = typer.main.get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    # dask worker leaves what it does not know to modules that it loads beforehand; there are none
    found.make_context(name, list(arguments), ignore_unknown_options=False)
