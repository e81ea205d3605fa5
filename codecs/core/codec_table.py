"""The codec table: installed codecs under their Zarr names, as entry points say it.

It knows two kinds: codecs of arrays, and those of bytes, which stand behind a serializer of Zarr's
and code by one of the others. Zarr's group of entry points has both; `BYTES` lists the second kind.
Nothing of a codec is imported before it is asked for, and what cannot be imported is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar, cast

from gangsaw.codecs.core import tables
from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.codecs.core.options import Option
from gangsaw.codecs.core.suits import Answers

if TYPE_CHECKING:
    from zarr.core.common import JSON

    from gangsaw.codecs.core.zarr.block_codec import BlockCodec
    from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
    from gangsaw.codecs.core.zarr.named import NamedCodec

Answer = TypeVar("Answer")
GROUP = "zarr.codecs"
BYTES = "gangsaw.bytes_codecs"  # which codecs of GROUP are of bytes
PREFIX = "gangsaw."  # of Zarr names of codecs of this kind; users may leave it out


@lru_cache
def table() -> Mapping[str, tables.Candidates]:
    """Return the entry points of codecs of arrays by Zarr name, sorted; nothing is imported."""
    found = tables.entries(GROUP, PREFIX)
    return {name: found[name] for name in sorted(found.keys() - bytes_table().keys())}


@lru_cache
def bytes_table() -> Mapping[str, tables.Candidates]:
    """Return the entry points of codecs of bytes by Zarr name, sorted; nothing is imported."""
    found = tables.entries(BYTES, PREFIX)
    return {name: found[name] for name in sorted(found)}


@lru_cache
def names() -> tuple[str, ...]:
    """Return the Zarr names of the codecs of both kinds."""
    return (*table(), *bytes_table())


@lru_cache
def entry_of(name: str) -> EntryPoint:
    """Return the entry point of a codec of either table.

    Of several with one name it is the first whose class and answers can be imported. Where a
    module is not there at all no class is imported to find out, so that help stays quick.
    """
    several = table()[name] if name in table() else bytes_table()[name]
    if len(several) > 1:
        there = tuple(entry for entry in several if tables.passes(entry, _find_module))
        several = there or several[:1]
    return tables.settle(several, _import_all)


@lru_cache
def contested() -> frozenset[str]:
    """Return the Zarr names that several distributions give to codecs of theirs."""
    return frozenset(tables.contested(GROUP, PREFIX))


def settle_names() -> None:
    """Let Zarr find the codecs of this table, where others have the same names.

    What decodes by Zarr calls it first; elsewhere it happens as a codec's class is loaded.
    """
    for name in contested():
        _loaded(name)


def full_name(codec: str) -> str:
    """Return a codec's Zarr name, given with or without its prefix."""
    return codec if codec.startswith(PREFIX) else PREFIX + codec


def package(name: str) -> str:
    """Return the dotted name of a codec's folder."""
    return _package(entry_of(name))


def has_module(name: str, module: str) -> bool:
    """Whether the codec's folder has a module, such as "gpu"; it is not imported."""
    return _has_module(entry_of(name), module)


def parameter_names(name: str) -> tuple[str, ...]:
    """Return the names of a codec's parameters, by its `params.py` alone; none without it.

    None either where it cannot be imported: `named_class` says why.
    """
    try:
        kind = getattr(import_module(f"{package(name)}.params"), "Params", None)
    except ImportError:
        return ()
    return () if kind is None else tuple(field.name for field in fields(kind))


def named_class(name: str) -> type[NamedCodec]:
    """Return the class of a codec of either kind; BadParams where it cannot be imported."""
    loaded = _loaded(name)
    if loaded is None:
        raise _unusable(name)
    return loaded


def codec_class(name: str) -> type[BlockCodec]:
    """Return the class of a codec of arrays; BadParams where it cannot be imported."""
    return cast("type[BlockCodec]", named_class(name))


def classes() -> list[type[BlockCodec]]:
    """Return the classes of all codecs of arrays that can be imported."""
    return [cast("type[BlockCodec]", c) for n in table() if (c := _loaded(n)) is not None]


def bytes_classes() -> list[type[BytesCodec]]:
    """Return the classes of all codecs of bytes that can be imported."""
    return [cast("type[BytesCodec]", c) for n in bytes_table() if (c := _loaded(n)) is not None]


def answers() -> Mapping[str, Answers]:
    """Return the `ANSWERS` of each codec by Zarr name, without those that cannot be imported.

    No codec's class is imported for it, and so neither Zarr nor a kernel.
    """
    found = {name: _answers(name) for name in names()}
    return {name: answer for name, answer in found.items() if answer is not None}


def ask(name: str, question: Callable[[Answers], Answer]) -> Answer | None:
    """Return what a codec of `answers` says; None, and a warning, where a plugin fails to answer.

    Errors of the array that it looks at are raised.
    """
    answer = answers()[name]
    entry = entry_of(name) if name in names() else None
    return tables.ask(entry, lambda: question(answer), (GangsawError, OSError))


def answer(name: str) -> Answers:
    """Return the `ANSWERS` of a codec of the table; BadParams where it cannot be imported."""
    if (found := answers().get(name)) is None:
        raise _unusable(name)
    return found


def coding(parameter: str, given: object) -> BlockCodec:
    """Return the codec of arrays that another codes by; BadParams where it is none of the table.

    Parameters
    ----------
    parameter : what the other calls it
    given : a codec, its name, or its JSON
    """
    codec = _made(parameter, given) if isinstance(given, str | Mapping) else given
    if getattr(codec, "codec_name", None) not in table():
        raise BadParams(f"{parameter} must be a codec of arrays, got {codec!r:.60}")
    return cast("BlockCodec", codec)


def _made(parameter: str, given: str | Mapping[str, object]) -> BlockCodec:
    said = {"name": given} if isinstance(given, str) else given
    name = said.get("name")
    if not isinstance(name, str) or name not in table():
        raise BadParams(f"{parameter} must be one of {', '.join(table())}, got {name!r}")
    return codec_class(name).from_dict(cast("dict[str, JSON]", dict(said)))


def owners(option: str) -> list[str]:
    """Return the names of the codecs that have an option of that name."""
    return [name for name, a in answers().items() if option in {o.name for o in a.options}]


def is_usable(name: str) -> bool:
    """Whether the codec's class can be imported."""
    return _loaded(name) is not None


@lru_cache
def _loaded(name: str) -> type[NamedCodec] | None:
    entry = entry_of(name)

    def load() -> type[NamedCodec]:
        found = _class(entry)
        if name in contested():
            found.take_name()
        return found

    return tables.attempt(entry, load)


@lru_cache
def _answers(name: str) -> Answers | None:
    entry = entry_of(name)
    return tables.attempt(entry, lambda: _answers_of(entry))


def _class(entry: EntryPoint) -> type[NamedCodec]:
    found: type[NamedCodec] = entry.load()
    return found


def _answers_of(entry: EntryPoint) -> Answers:
    if not _has_module(entry, "suits"):
        return Answers()
    found = tables.checked(Answers, import_module(f"{_package(entry)}.suits").ANSWERS)
    for option in found.options:
        tables.checked(Option, option)
    return found


def _find_module(entry: EntryPoint) -> None:
    if find_spec(entry.module) is None:
        raise ModuleNotFoundError(f"no module {entry.module}")


def _import_all(entry: EntryPoint) -> None:
    """Raise where an entry is no whole codec."""
    _answers_of(entry)
    if not hasattr(found := _class(entry), "take_name"):
        raise TypeError(f"{found!r:.60} is no codec of ours")


def _package(entry: EntryPoint) -> str:
    return entry.module.rpartition(".")[0]


def _has_module(entry: EntryPoint, module: str) -> bool:
    return find_spec(f"{_package(entry)}.{module}") is not None


def _unusable(name: str) -> BadParams:
    return BadParams(f"{name} of {tables.distribution(entry_of(name))} cannot be imported")
