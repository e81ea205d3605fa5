"""Short help of commands: `--help` shows common options, `--help-all` all of them.

Options of one format and of clusters fill pages. `--help` leaves them out and says how many there
are. `gangsaw help NAME` shows all options of a command, a format or a codec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Protocol, TypeVar, cast

import typer

LONG_PANELS = ("Cluster", "Source", "Target")  # titles, or their first word, that --help omits
ALL = "--help-all"
COMMON = {"--workers", "--format"}  # options of these panels that --help shows
# placeholders of values in the help, by option; others follow from the type
PLACEHOLDERS = {
    "against": "PATH",
    "block": "N,N,...",
    "chunks": "N,N,...",
    "scheduler": "ADDRESS",
    "scheduler_file": "PATH",
    "tls_ca_file": "PATH",
    "tls_cert": "PATH",
    "tls_key": "PATH",
}
# by the name of the type in older and in newer versions of typer
BY_TYPE = {
    **dict.fromkeys(("text", "str", "list[str]"), "NAME"),
    **dict.fromkeys(("integer", "integer range", "int"), "N"),
    **dict.fromkeys(("float", "float range"), "X"),
    "path": "PATH",
}
C = TypeVar("C")


class HelpParameter(Protocol):
    """Argument or option of a typer command."""

    name: str
    opts: list[str]
    metavar: str | None
    param_type_name: str
    rich_help_panel: str | None
    hidden: bool
    expose_value: bool


class HelpWriter(Protocol):
    """Method of a command that writes its help."""

    def __call__(self, context: typer.Context, formatter: object) -> None:
        """Write the help of the context's command."""


class Command(Protocol):
    """Typer command with its parameters."""

    params: list[HelpParameter]
    epilog: str | None
    rich_help_panel: str | None
    format_help: HelpWriter


def with_short_help(command: C) -> C:
    """Give a command, or all commands of a group, a short help and the option --help-all."""
    found = cast(Command, command)
    if hasattr(command, "commands"):
        for one in command.commands.values():
            with_short_help(one)
        return command
    flags = {flag for one in found.params for flag in one.opts}
    if ALL in flags:
        return command
    for each in found.params:
        _name_value(each)
    if any(_is_long(one) for one in found.params):
        found.params.append(_option())
        found.format_help = _shortened(found, found.format_help)
    return command


def _name_value(option: HelpParameter) -> None:
    """Set the placeholder of an option's value, if it has none."""
    is_flag = getattr(option, "is_flag", False)
    if option.param_type_name == "option" and option.metavar is None and not is_flag:
        option.metavar = PLACEHOLDERS.get(option.name) or BY_TYPE.get(_type_name(option))


def _type_name(option: HelpParameter) -> str:
    """Return the name of the type of an option's value, in lower case."""
    if (of_click := getattr(option, "type", None)) is not None:
        return str(of_click.name).lower()
    bare_type: Callable[[], str] = option.bare_type  # type: ignore[attr-defined]
    return bare_type().lower()


def _is_long(option: HelpParameter) -> bool:
    """Return True for an option that --help leaves out."""
    panel = getattr(option, "rich_help_panel", None) or ""
    return panel.split(":")[0] in LONG_PANELS and not COMMON & {*option.opts}


def _shortened(command: Command, write: HelpWriter) -> HelpWriter:
    """Return a function that writes the help without the long panels, and says so at its end."""

    def format_help(context: typer.Context, formatter: object) -> None:
        if context.meta.get(ALL):
            write(context, formatter)
            return
        left_out = [one for one in command.params if _is_long(one)]
        titles = dict.fromkeys((one.rich_help_panel or "").split(":")[0] for one in left_out)
        where = f"({', '.join(titles).lower()}): {context.command_path} {ALL}"
        with _hidden(left_out), _ended_by(command, f"{len(left_out)} more options {where}"):
            write(context, formatter)

    return format_help


@contextmanager
def _hidden(options: list[HelpParameter]) -> Iterator[None]:
    """Hide options from the help that is written meanwhile, and from nothing else."""
    for one in options:
        one.hidden = True
    try:
        yield
    finally:
        for one in options:
            one.hidden = False


@contextmanager
def _ended_by(command: Command, text: str) -> Iterator[None]:
    """Add a paragraph to the end of the help that is written meanwhile."""
    before = command.epilog
    command.epilog = "\n\n".join(filter(None, (before, text)))
    try:
        yield
    finally:
        command.epilog = before


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[ALL] = True
        typer.echo(context.get_help())
        context.exit()


def _declare(
    everything: Annotated[
        bool,
        typer.Option(
            ALL,
            help="Show all options, those of formats and clusters, too, and exit.",
            callback=_show_all,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Declare the option --help-all, which typer converts to a parameter."""


def _option() -> HelpParameter:
    """Return the option --help-all."""
    app = typer.Typer(add_completion=False)
    app.command()(_declare)
    (option,) = cast(Command, typer.main.get_command(app)).params
    option.expose_value = False
    return option
