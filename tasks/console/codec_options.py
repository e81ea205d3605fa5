"""Options that codecs add to a command, and the names of codecs, both from the table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from gangsaw.codecs.core import codec_table

CODEC = "Codec"  # the panel of --help
CHOICES = f"auto (by content), {', '.join(codec_table.table())}, zstd or none."


def with_codec_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all codecs; those given arrive in `codec_options`, by name."""
    own = inspect.signature(command, eval_str=True)
    options = _options()
    shown = [p for p in own.parameters.values() if p.name != "codec_options"]
    at = next((i for i, p in enumerate(shown) if p.name == "chunks"), len(shown))
    shown[at:at] = options.values()

    @wraps(command)
    def with_options(**values: Any) -> None:
        given = {name: values.pop(name) for name in options}
        chosen = {name: value for name, value in given.items() if value is not None}
        command(**values, codec_options=chosen)

    del with_options.__wrapped__  # or its signature would be asked for
    with_options.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in shown}
    return with_options


def _options() -> dict[str, inspect.Parameter]:
    """Return a parameter for each name of an option; codecs may share one."""
    helps: dict[str, list[str]] = {}
    for codec, answers in codec_table.answers().items():
        for option in answers.options:
            default = f" (default: {option.default})" if option.default else ""
            helps.setdefault(option.name, []).append(f"Of {codec}: {option.help}{default}")
    return {name: _parameter(name, " ".join(lines)) for name, lines in helps.items()}


def _parameter(name: str, text: str) -> inspect.Parameter:
    flag = "--" + name.replace("_", "-")
    shown = typer.Option(flag, help=text, show_default=False, rich_help_panel=CODEC)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=None, annotation=Annotated[str | None, shown])
