"""Option --verbose, added to every command, including those of plugins."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Annotated, Protocol, TypeVar

import typer


class Parameter(Protocol):
    """Parameter of a typer command, with its flags."""

    opts: list[str]
    secondary_opts: list[str]
    expose_value: bool


C = TypeVar("C")


def _log_all(ctx: typer.Context, wanted: bool) -> bool:
    """Log the messages of all Gangsaw modules until the command has ended."""
    if wanted and not ctx.resilient_parsing:
        log, handler = logging.getLogger("gangsaw"), logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        before = log.level, log.propagate
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False

        def undo() -> None:
            log.removeHandler(handler)
            log.level, log.propagate = before

        ctx.call_on_close(undo)
    return wanted


def _command(
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Log decisions, retries and times of the stages to standard error.",
            callback=_log_all,
        ),
    ] = False,
) -> None:
    """Declare the option --verbose, which typer converts to a parameter."""


def with_verbose(command: C) -> C:
    """Add the option --verbose to a command, or to all commands of a group, unless they have it."""
    if hasattr(command, "commands"):
        for one in command.commands.values():
            with_verbose(one)
        return command
    params: list[Parameter] = vars(command)["params"]
    used = {flag for one in params for flag in (*one.opts, *one.secondary_opts)}
    if "--verbose" not in used:
        params.append(_option(used))
    return command


def _option(used: Collection[str]) -> Parameter:
    """Return the option --verbose without the flags that the command already has."""
    app = typer.Typer(add_completion=False)
    app.command()(_command)
    (option,) = typer.main.get_command(app).params
    option.opts = [flag for flag in option.opts if flag not in used]
    option.expose_value = False  # the callback does all the work
    return option
