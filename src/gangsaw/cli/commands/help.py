"""gangsaw help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, cast

import typer

from gangsaw.cli.short_help import ALL
from gangsaw.codecs.core.plugins.options import Option, none_of
from gangsaw.tasks.formats.contract.format import Format


def help(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="Command, format or codec. (default: all commands)", metavar="NAME"),
    ] = None,
) -> None:
    """Show all options of a command, or what a format or a codec is and takes.

    Example: gangsaw help fastq
    """
    from gangsaw.codecs.core import codec_table
    from gangsaw.tasks.formats.contract.table import formats

    root = cast(typer.Context, context.find_root())
    names = root.command.list_commands(root)  # type: ignore[attr-defined]
    codecs = {one.removeprefix(codec_table.PREFIX): one for one in codec_table.capabilities()}
    if name is None:
        typer.echo(root.get_help())
    elif name in names:
        _show_command(root, name)
    elif name in formats():
        _show_format(formats()[name])
    elif (short := name.removeprefix(codec_table.PREFIX)) in codecs:
        _show_codec(codecs[short])
    else:
        raise none_of("command, format or codec", [*names, *formats(), *codecs], name)


def _show_command(root: typer.Context, name: str) -> None:
    """Print the help of a command with all its options."""
    command = root.command.get_command(root, name)  # type: ignore[attr-defined]
    context = command.context_class(command, info_name=name, parent=root)
    context.meta[ALL] = True
    typer.echo(command.get_help(context))


def _show_format(kind: Format) -> None:
    """Print what a format is, and the options of its files as sources and as targets."""
    from gangsaw.tasks.console.output import print_table

    rows = [
        ("format", f"{kind.title}: {kind.about}" if kind.about else kind.title),
        ("read", "no" if kind.open is None else "yes"),
        ("written as", " ".join(kind.suffixes) if kind.export else "not written"),
    ]
    if kind.extra:
        rows.append(("needs", f'pip install "{kind.extra}"'))
    print_table(kind.name, rows)
    _print_options("compress and verify", kind.options)
    _print_options("decompress", kind.export_options)


def _show_codec(name: str) -> None:
    """Print the options of a codec."""
    from gangsaw.codecs.core import codec_table
    from gangsaw.tasks.console.output import print_table

    entry = codec_table.entry_of(name)
    print_table(name, [("class", f"gangsaw.codecs.{entry.attr}"), ("in", entry.module)])
    _print_options("compress", codec_table.capabilities_of(name).options)


def _print_options(commands: str, options: Iterable[Option]) -> None:
    """Print options with their help and defaults, if there are any."""
    from gangsaw.tasks.console.output import print_table

    rows = [
        (one.flag, f"{one.help} (default: {one.default})" if one.default else one.help)
        for one in options
    ]
    if rows:
        print_table(f"options of gangsaw {commands}", rows)
