"""Options with a fixed set of values: listed in the help, completed by the shell, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import typer

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins.options import join_words, none_of

if TYPE_CHECKING:
    from typer.models import OptionInfo

    Complete = Callable[[str], list[str]]

WIDEST = 28  # of 80 characters, for a list before the help text; a longer one goes into the text
DEVICES = ("cpu", "gpu")


def choice(
    *flags: str,
    of: Iterable[str],
    help: str,
    panel: str | None = None,
    default: str = "",
    others: Callable[[str], bool] | None = None,
) -> OptionInfo:
    """Return a command line option whose value is one of several words.

    Parameters
    ----------
    flags : flags of the option; none if they follow from the parameter's name
    of : the allowed words
    help : a sentence, to which a long list of the words is added
    panel : title of the group of options in the help
    default : default value in words, if it differs from the parameter's own
    others : predicate that accepts further values, which are checked later
    """
    words = tuple(of)
    joined = "|".join(words)
    is_short = len(joined) <= WIDEST
    texts = [help, *([] if is_short else [f"{join_words(words, 'or')}."])]
    info: OptionInfo = typer.Option(
        *flags,
        help=" ".join([*texts, *([f"(default: {default})"] if default else [])]),
        metavar=joined if is_short else "NAME",
        show_default=not default,
        rich_help_panel=panel,
        autocompletion=make_completion(words),
        callback=_make_check(words, others),
    )
    return info


def make_completion(words: Sequence[str]) -> Complete:
    """Return the shell completion function that proposes these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def codecs() -> tuple[str, ...]:
    """Return the values of --codec in their short form."""
    names = (name.removeprefix(codec_table.PREFIX) for name in codec_table.names())
    return ("auto", *names, "zstd", "none")


def is_codec(name: str) -> bool:
    """Return True if the name is a codec's short or full name."""
    return codec_table.full_name(name) in codec_table.names()


def parameters(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete NAME= of --param with parameters of the given codec, or of all codecs."""
    named = codec_table.full_name(str(ctx.params.get("codec") or "auto"))
    wanted = [named] if named in codec_table.names() else codec_table.names()
    found = {f"{name}=" for codec in wanted for name in codec_table.parameter_names(codec)}
    return sorted(name for name in found if name.startswith(incomplete))


def _make_check(
    words: Sequence[str], others: Callable[[str], bool] | None
) -> Callable[[typer.Context, typer.CallbackParam, str | None], str | None]:
    """Return the typer callback that raises BadParams for a value that is none of the words."""

    def check(ctx: typer.Context, param: typer.CallbackParam, value: str | None) -> str | None:
        if not value or value in words or ctx.resilient_parsing or (others and others(value)):
            return value
        flag = max(param.opts, key=len)
        raise none_of(flag, words, value)

    return check
