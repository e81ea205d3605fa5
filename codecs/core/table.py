"""The codec table: installed codecs under their Zarr names, as entry points say it.

Nothing of a codec is imported before it is asked for, and what cannot be imported is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.suits import Answers

if TYPE_CHECKING:
    from gangsaw.codecs.core.zarr.block_codec import BlockCodec

GROUP = "zarr.codecs"
PREFIX = "gangsaw."  # of Zarr names of codecs of this kind; users may leave it out
OWN = "gangsaw"  # the distribution whose codec is taken where two have one name


@lru_cache
def table() -> Mapping[str, EntryPoint]:
    """Return the entry points of the codecs by Zarr name, sorted; warn of two of one name."""
    found: dict[str, EntryPoint] = {}
    ours = (entry for entry in entry_points(group=GROUP) if entry.name.startswith(PREFIX))
    for entry in sorted(ours, key=lambda e: (distribution(e) != OWN, distribution(e))):
        if (first := found.setdefault(entry.name, entry)) is not entry:
            warnings.warn(
                f"{distribution(entry)} and {distribution(first)} both bring a codec {entry.name}: "
                f"that of {distribution(first)} is taken; uninstall one of them",
                stacklevel=2,
            )
    return dict(sorted(found.items()))


def distribution(entry: EntryPoint) -> str:
    """Return the name of the distribution that an entry point is of."""
    return entry.dist.name if entry.dist is not None else "an unknown distribution"


def full_name(codec: str) -> str:
    """Return a codec's Zarr name, given with or without its prefix."""
    return codec if codec.startswith(PREFIX) else PREFIX + codec


def package(name: str) -> str:
    """Return the dotted name of a codec's folder."""
    return table()[name].module.rpartition(".")[0]


def has_module(name: str, module: str) -> bool:
    """Whether the codec's folder has a module, such as "gpu"; it is not imported."""
    return find_spec(f"{package(name)}.{module}") is not None


def codec_class(name: str) -> type[BlockCodec]:
    """Return the class of a codec of the table; BadParams where it cannot be imported."""
    loaded = _loaded(name)
    if loaded is None:
        raise BadParams(f"{name} of {distribution(table()[name])} cannot be imported")
    return loaded


def classes() -> list[type[BlockCodec]]:
    """Return the classes of all codecs that can be imported."""
    return [loaded for name in table() if (loaded := _loaded(name)) is not None]


def answers() -> Mapping[str, Answers]:
    """Return what answers for each codec, by Zarr name; those that cannot be imported are not in.

    No codec's class is imported for it, and so neither Zarr nor a kernel.
    """
    found = {name: _answers(name) for name in table()}
    return {name: answer for name, answer in found.items() if answer is not None}


def owners(option: str) -> list[str]:
    """Return the names of the codecs that have an option of that name."""
    return [name for name, a in answers().items() if option in {o.name for o in a.options}]


def is_usable(name: str) -> bool:
    """Whether the codec's class can be imported."""
    return _loaded(name) is not None


@lru_cache
def _loaded(name: str) -> type[BlockCodec] | None:
    try:
        loaded: type[BlockCodec] = table()[name].load()
    except Exception as error:  # whatever a plugin does at its import
        _warn(name, error)
        return None
    return loaded


@lru_cache
def _answers(name: str) -> Answers | None:
    try:
        if not has_module(name, "suits"):
            return Answers()
        found: Any = import_module(f"{package(name)}.suits")
        answer: Answers = found.ANSWERS
    except Exception as error:  # whatever a plugin does at its import
        _warn(name, error)
        return None
    return answer


_warned: set[str] = set()


def _warn(name: str, error: Exception) -> None:
    """Warn once of a codec that cannot be imported, whatever of it was asked for."""
    if name in _warned:
        return
    _warned.add(name)
    warnings.warn(
        f"codec {name} of {distribution(table()[name])} cannot be imported and is left out: "
        f"{type(error).__name__}: {error}",
        stacklevel=4,
    )
