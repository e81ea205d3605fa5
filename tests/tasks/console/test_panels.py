"""A panel is a dataclass: typer sees its options, the command the dataclass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import pytest
import typer
from typer import rich_utils
from typer.testing import CliRunner

from gangsaw.tasks.console.panels import expand_panels


@dataclass(frozen=True)
class Size:
    """How large."""

    PANEL: ClassVar[str] = "Size"
    width: Annotated[int, typer.Option(min=1, help="Of it.")]
    height: Annotated[int, typer.Option(help="Of it.")] = 3
    names: Annotated[list[str], typer.Option(help="Elsewhere.", rich_help_panel="Names")] = field(
        default_factory=lambda: ["a"]
    )


@dataclass(frozen=True)
class Solid(Size):
    """How large in space."""

    height: Annotated[int, typer.Option(help="Of it.")] = 5
    depth: Annotated[int, typer.Option("--depth", "-d", help="Of it.")] = 7


def called(*args: str, wrong: bool = False) -> Any:
    found: list[Any] = []

    @expand_panels
    def command(
        what: Annotated[str, typer.Argument()],
        *,
        size: Solid,
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> None:
        """Draw."""
        found.append((what, size, loud))

    app = typer.Typer()
    app.command()(command)
    ran = CliRunner().invoke(app, args)
    assert (ran.exit_code != 0) == wrong, ran.output
    return ran.output if wrong or "--help" in args else found[0]


def test_the_command_gets_the_dataclass() -> None:
    assert called("it", "--width", "2") == ("it", Solid(2, 5, ["a"], 7), False)
    given = ("--height", "4", "-d", "1", "--names", "x", "--names", "y", "--loud")
    assert called("it", "--width", "2", *given) == ("it", Solid(2, 4, ["x", "y"], 1), True)


def test_the_help_has_the_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", 90)
    text = called("--help")
    before, size = text.split(" Size ")
    size, names = size.split(" Names ")
    assert all(option in size for option in ("--width", "--height", "--depth"))
    assert "--names" in names
    assert "--loud" in before
    assert "Draw." in before


def test_wrong_values_are_refused_as_typer_does() -> None:
    assert "--width" in called("it", "--width", "0", wrong=True)
    assert "--width" in called("it", wrong=True)


def test_two_options_of_one_name_are_refused() -> None:
    def command(size: Size, solid: Solid) -> None:
        """Draw."""

    with pytest.raises(ValueError, match="width"):
        expand_panels(command)
