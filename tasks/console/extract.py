"""gangsaw extract: parts of a store, written by the domain of its content."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins import entry_points
from gangsaw.codecs.core.plugins.options import flag, join_words
from gangsaw.tasks.console.extractors import GROUP, Extractor
from gangsaw.tasks.console.panels import expand_panels

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

HELP_GROUP = "Stores"  # of the command in `gangsaw --help`
HELP = """Write parts of a store of reads or of a genome as text, to standard output.

Examples: gangsaw extract reads.zarr 1000:2000 > some.fastq; gangsaw extract genome.zarr
chr1:1,000-2,000 chrM > some.fa
"""


def _command() -> object:
    """Return the command `extract` with the options of all domains, each in its own panel."""
    known: dict[str, Extractor[DataclassInstance]] = entry_points.load_table(GROUP, Extractor)

    def extract(store: str, wanted: list[str] | None, **options: DataclassInstance) -> None:
        name = _content(store, known)
        for other, given in options.items():
            if other != name:
                _refuse(store, known[name].holds, given)
        known[name].run(store, tuple(wanted or ()), options[name])

    help_of = "Reads by number, such as 1000:2000, or regions, such as chr1:1,000-2,000."
    hints: dict[str, object] = {
        "store": Annotated[str, typer.Argument(help="Zarr store.", metavar="store")],
        "wanted": Annotated[list[str] | None, typer.Argument(help=help_of, metavar="[parts]...")],
    }
    hints |= {name: extractor.options for name, extractor in known.items()}
    kind = partial(Parameter, kind=Parameter.KEYWORD_ONLY)
    defaults = {"store": Parameter.empty, "wanted": None}
    shown = [
        kind(n, default=defaults.get(n, Parameter.empty), annotation=h) for n, h in hints.items()
    ]
    extract.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    extract.__annotations__, extract.__doc__ = hints, HELP
    return expand_panels(extract)


def _content(store: str, known: dict[str, Extractor[DataclassInstance]]) -> str:
    """Return the store attribute that names its domain; raise BadParams if `extract` knows none."""
    from gangsaw.tasks.store.source import open_zarr

    attrs = open_zarr(store).attrs
    found = [name for name in known if name in attrs]
    if not found:
        kinds = join_words([extractor.holds for extractor in known.values()], "nor")
        raise BadParams(f"{store} holds neither {kinds}: extract writes parts of such stores")
    return found[0]


def _refuse(store: str, holds: str, values: DataclassInstance) -> None:
    """Raise BadParams if the user gave options of a domain that is not the store's.

    Parameters
    ----------
    holds : content of stores of the options' domain, for the message
    values : options as given
    """
    usual = type(values)()
    names = [f.name for f in fields(values) if getattr(values, f.name) != getattr(usual, f.name)]
    if names:
        flags = join_words([flag(name.rstrip("_")) for name in names])
        raise BadParams(f"{store} holds {holds}, for which extract has no {flags}")


extract = _command()
