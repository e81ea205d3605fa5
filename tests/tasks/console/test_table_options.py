"""Options of plugins in a command: one for each name, in panels, and none that the command has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import pytest
import typer
from typer import rich_utils
from typer.testing import CliRunner

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.entry_points import PluginWarning
from gangsaw.codecs.core.plugins.options import Option
from gangsaw.tasks.console.table_options import CODEC, OwnedOption, _with_options

ORDER = Option("order", "Of records.", "kept", choices=("kept", "sorted"))


def called(found: list[OwnedOption], *args: str, panel: str = "For {}") -> object:
    given: list[Mapping[str, object]] = []

    def command(
        *,
        as_json: Annotated[bool, typer.Option("--json")] = False,
        level: Annotated[int, typer.Option()] = 1,
        own: Mapping[str, object],
    ) -> None:
        given.append(own)

    app = typer.Typer()
    app.command()(_with_options(command, "own", found, panel.format))
    ran = CliRunner().invoke(app, args)
    assert ran.exit_code == 0, ran.output
    return ran.output if "--help" in args else given[0]


def test_what_is_given_arrives_by_name() -> None:
    found = [
        OwnedOption("a", ORDER),
        OwnedOption("b", ORDER),
        OwnedOption("b", Option("block_size", "Bytes.")),
    ]
    assert called(found) == {}
    given = called(found, "--order", "sorted", "--block-size", "9", "--level", "2")
    assert given == {"order": "sorted", "block_size": "9"}


def test_the_panel_names_the_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", 120)
    other = Option("order", "Of lines.")
    text = str(called([OwnedOption("a", ORDER), OwnedOption("b", ORDER)], "--help"))
    assert "--order" in text.partition("For a and b")[2]
    assert "kept|sorted  Of records. (default: kept)" in text
    text = str(called([OwnedOption("a", ORDER), OwnedOption("b", other)], "--help"))
    assert "For a: Of records. (default: kept) For b: Of lines." in text
    assert "For a: Of records." in str(called([OwnedOption("a", ORDER)], "--help", panel=CODEC))


@pytest.mark.parametrize("name", ["level", "json"])
def test_an_option_of_the_command_is_not_replaced(name: str) -> None:
    with pytest.warns(PluginWarning, match=f"--{name} of a is left out: the command has another"):
        assert called([OwnedOption("a", Option(name, "Any.")), OwnedOption("a", ORDER)]) == {}


def test_values_of_texts() -> None:
    depth = Option("depth", "Bits.", read=int)
    assert (depth.value("7"), depth.value(7), ORDER.value("kept")) == (7, 7, "kept")
    with pytest.raises(BadParams, match="--depth cannot be 'x': pass an integer"):
        depth.value("x")
    with pytest.raises(BadParams, match="--order must be kept or sorted, got 3"):
        ORDER.value(3)
