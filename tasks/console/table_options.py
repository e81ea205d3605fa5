"""Options that plugins add to a command: those of codecs and formats in their tables."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, ParamSpec, cast

import typer

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins.entry_points import PluginWarning
from gangsaw.codecs.core.plugins.options import Option, join_words
from gangsaw.tasks.console.choices import make_completion
from gangsaw.tasks.console.panels import ByKeyword
from gangsaw.tasks.formats.contract import table

CODEC = "Codec"  # panel of --help

P = ParamSpec("P")


@dataclass(frozen=True)
class OwnedOption:
    """Command line option with its owner: the Zarr name of a codec, or the title of a format."""

    owner: str
    option: Option


def with_codec_options(command: Callable[P, None]) -> Callable[P, None]:
    """Add the options of all codecs to a command; those given are passed as `codec_options`."""
    found = [
        OwnedOption(name, o) for name, a in codec_table.capabilities().items() for o in a.options
    ]
    return _with_options(command, "codec_options", found, lambda _: CODEC)


def with_source_options(command: Callable[P, None]) -> Callable[P, None]:
    """Add the source options of all formats to a command, passed as `format_options`."""
    found = [OwnedOption(kind.title, o) for kind in table.readable() for o in kind.options]
    return _with_options(command, "format_options", found, lambda owners: f"Source: {owners}")


def with_export_options(command: Callable[P, None]) -> Callable[P, None]:
    """Add the export options of all formats to a command, passed as `format_options`."""
    found = [OwnedOption(kind.title, o) for kind in table.writable() for o in kind.export_options]
    return _with_options(command, "format_options", found, lambda owners: f"Target: {owners}")


def _with_options(
    command: Callable[P, None], into: str, found: Iterable[OwnedOption], panel: Callable[[str], str]
) -> Callable[P, None]:
    """Replace the parameter `into` by options; given ones are passed to it by name.

    Owners may share a name. `panel` returns the title of a help panel for its owners.
    """
    own = inspect.signature(command, eval_str=True)
    added = {
        name: _parameter(several, panel)
        for name, several in _by_name(found).items()
        if not _is_duplicate(several, own.parameters)
    }
    shown = list(own.parameters.values())
    at = list(own.parameters).index(into)
    run = cast(ByKeyword, command)
    shown[at : at + 1] = added.values()

    @wraps(command)
    def with_options(**values: object) -> None:
        given = {name: values.pop(name) for name in added}
        chosen = {name: value for name, value in given.items() if value is not None}
        run(**values, **{into: chosen})

    del with_options.__wrapped__  # else typer would use its signature
    with_options.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in shown}
    return cast(Callable[P, None], with_options)


def _by_name(found: Iterable[OwnedOption]) -> dict[str, list[OwnedOption]]:
    named: dict[str, list[OwnedOption]] = {}
    for owned in found:
        named.setdefault(owned.option.name, []).append(owned)
    return named


def _is_duplicate(several: list[OwnedOption], own: Mapping[str, inspect.Parameter]) -> bool:
    """Return True, with a warning, if the command has such an option already."""
    option = several[0].option
    if option.name not in own and not any(option.flag in _flags(p) for p in own.values()):
        return False
    owners = join_words([owned.owner for owned in several])
    reason = "the command has another option of that name"
    warnings.warn(f"{option.flag} of {owners} is left out: {reason}", PluginWarning, stacklevel=2)
    return True


def _flags(parameter: inspect.Parameter) -> Iterable[object]:
    """Yield the names of an option in the command; typer stores the first as a default."""
    for info in getattr(parameter.annotation, "__metadata__", ()):
        yield from (getattr(info, "default", None), *(getattr(info, "param_decls", None) or ()))


def _parameter(several: list[OwnedOption], panel: Callable[[str], str]) -> inspect.Parameter:
    option = several[0].option
    title = panel(join_words([owned.owner for owned in several]))
    shown = typer.Option(
        option.flag,
        help=_help(several, with_owner=title == panel("")),
        show_default=False,
        rich_help_panel=title,
        metavar=option.metavar,
        autocompletion=make_completion([str(word) for word in option.choices]),
    )
    annotation = Annotated[str | None, shown]
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _help(several: list[OwnedOption], with_owner: bool) -> str:
    """Return a help line per owner; owners with the same text share a line."""
    owners: dict[str, list[str]] = {}
    for owner, option in ((owned.owner, owned.option) for owned in several):
        default = f" (default: {option.default})" if option.default else ""
        owners.setdefault(f"{option.help}{default}", []).append(owner)
    if not with_owner and len(owners) == 1:
        return next(iter(owners))
    return " ".join(f"For {join_words(names)}: {text}" for text, names in owners.items())
