"""Commands of domains: listed by name in the plugin table, imported when needed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import typer
from typer.core import TyperGroup

from gangsaw.cli.short_help import with_short_help
from gangsaw.cli.verbose import with_verbose
from gangsaw.codecs.core.errors import JobFailed, first_line
from gangsaw.codecs.core.plugins import entry_points

GROUP = "gangsaw.commands"
# groups of commands in the help; those of domains have names of their own
STORES, PLUGINS, INSTALLATION = "Stores", "Plugins", "This installation"


class CommandTable(TyperGroup):
    """Commands of this package, then those of the plugin table by name.

    An entry of the table names a function with typer's options, which is one command, or a
    `typer.Typer`, which is a group of commands. Its module is light: `--help` imports it.
    """

    @cached_property
    def _table(self) -> dict[str, entry_points.Candidates]:
        return dict(sorted(entry_points.find_entries(GROUP).items()))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all command names for the help; all commands are imported for their summaries."""
        self._load(self._table)
        return sorted(super().list_commands(ctx), key=self._position)

    def _position(self, name: str) -> tuple[int, str]:
        """Return the position of a command in the help: by its group."""
        group = str(vars(self.commands[name]).get("rich_help_panel"))
        return {STORES: 0, PLUGINS: 2, INSTALLATION: 3}.get(group, 1), group

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None; for an unknown name, print the most similar one."""
        if cmd_name not in self.commands:
            self._load([cmd_name] if cmd_name in self._table else self._table)
        found = super().get_command(ctx, cmd_name)
        return None if found is None else with_short_help(with_verbose(found))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; convert EOFError, which typer would report as an interrupt."""
        try:
            return super().invoke(ctx)
        except EOFError as error:
            raise JobFailed(
                f"what is read ends too early: {first_line(error)} (--traceback shows where)"
            ) from error

    def _load(self, names: Iterable[str]) -> None:
        """Import commands of the plugin table; they cannot replace the package's own."""
        for name in [name for name in names if name not in self.commands]:
            command = entry_points.load_first(self._table[name], _command_of)
            if command is not None:
                command.name = name
                self.commands[name] = command


def _command_of(entry: Any) -> Any:
    """Return the command of a `typer.Typer` app or of a function, with its group in the help.

    An app has the group in `app.info.rich_help_panel`, the module of a function in `HELP_GROUP`.
    """
    if isinstance(entry, typer.Typer):
        command: Any = typer.main.get_group(entry)
        group = entry.info.rich_help_panel
    else:
        app = typer.Typer(add_completion=False)
        app.command()(entry)
        command = typer.main.get_command(app)
        group = getattr(sys.modules.get(entry.__module__), "HELP_GROUP", None)
    command.rich_help_panel = group if isinstance(group, str) else PLUGINS
    return command
