"""Codec table: installed codecs by Zarr name, as entry points declare them.

It has two kinds: codecs of arrays, and codecs of bytes, which follow a serializer of Zarr's and use
one of the array codecs. Zarr's group of entry points has both; `BYTES` lists the second kind. A
codec is only imported when it is needed, and one that cannot be imported is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar, cast

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.codecs.core.plugins import entry_points
from gangsaw.codecs.core.plugins.options import Option
from gangsaw.codecs.core.plugins.selection import Capabilities

if TYPE_CHECKING:
    from zarr.core.common import JSON

    from gangsaw.codecs.core.zarr.block_codec import BlockCodec
    from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
    from gangsaw.codecs.core.zarr.named import NamedCodec

Result = TypeVar("Result")
GROUP = "zarr.codecs"
BYTES = "gangsaw.bytes_codecs"  # group that names the codecs of bytes in GROUP
PREFIX = "gangsaw."  # of Zarr names of these codecs; users may leave it out


@lru_cache
def table() -> Mapping[str, entry_points.Candidates]:
    """Return the entry points of array codecs by Zarr name, sorted, without importing them."""
    found = entry_points.find_entries(GROUP, PREFIX)
    return {name: found[name] for name in sorted(found.keys() - bytes_table().keys())}


@lru_cache
def bytes_table() -> Mapping[str, entry_points.Candidates]:
    """Return the entry points of byte codecs by Zarr name, sorted, without importing them."""
    found = entry_points.find_entries(BYTES, PREFIX)
    return {name: found[name] for name in sorted(found)}


@lru_cache
def names() -> tuple[str, ...]:
    """Return the Zarr names of the codecs of both kinds."""
    return (*table(), *bytes_table())


@lru_cache
def entry_of(name: str) -> EntryPoint:
    """Return the entry point of a codec of either table.

    If several have the same name, it is the first whose class and capabilities can be imported. An
    entry without its module is dropped before any import, so that help is fast.
    """
    several = table()[name] if name in table() else bytes_table()[name]
    if len(several) > 1:
        there = tuple(entry for entry in several if entry_points.passes(entry, _find_module))
        several = there or several[:1]
    return entry_points.settle(several, _import_all)


@lru_cache
def contested() -> frozenset[str]:
    """Return the Zarr names that several distributions give to their codecs."""
    return frozenset(entry_points.contested_names(GROUP, PREFIX))


def settle_names() -> None:
    """Register the codecs of this table with Zarr if other codecs have the same names.

    Callers that decode with Zarr call it first; elsewhere, loading a codec's class does it.
    """
    for name in contested():
        _loaded(name)


def full_name(codec: str) -> str:
    """Return a codec's Zarr name, from its name with or without the prefix."""
    return codec if codec.startswith(PREFIX) else PREFIX + codec


def package(name: str) -> str:
    """Return the dotted name of a codec's package."""
    return _package(entry_of(name))


def has_module(name: str, module: str) -> bool:
    """Return True if the codec's folder has a module, such as "gpu", without importing it."""
    return _has_module(entry_of(name), module)


def parameter_names(name: str) -> tuple[str, ...]:
    """Return the names of a codec's parameters from its `params.py`; () without it.

    The result is also () if it cannot be imported: `named_class` reports the reason.
    """
    return tuple(_parameter_types(name))


def is_whole_number(name: str, parameter: str) -> bool:
    """Return True if a codec's parameter is a single integer, such as a block of bytes."""
    return _parameter_types(name).get(parameter) in ("int", int)


def _parameter_types(name: str) -> dict[str, object]:
    """Return the type of each parameter of a codec, as its dataclass declares it."""
    try:
        kind = getattr(import_module(f"{package(name)}.params"), "Params", None)
    except ImportError:
        return {}
    return {} if kind is None else {field.name: field.type for field in fields(kind)}


def named_class(name: str) -> type[NamedCodec]:
    """Return the class of a codec of either kind; raise BadParams if it cannot be imported."""
    loaded = _loaded(name)
    if loaded is None:
        raise _unusable(name)
    return loaded


def codec_class(name: str) -> type[BlockCodec]:
    """Return the class of an array codec; raise BadParams if it cannot be imported."""
    return cast("type[BlockCodec]", named_class(name))


def classes() -> list[type[BlockCodec]]:
    """Return the classes of all array codecs that can be imported."""
    return [cast("type[BlockCodec]", c) for n in table() if (c := _loaded(n)) is not None]


def bytes_classes() -> list[type[BytesCodec]]:
    """Return the classes of all byte codecs that can be imported."""
    return [cast("type[BytesCodec]", c) for n in bytes_table() if (c := _loaded(n)) is not None]


def capabilities() -> Mapping[str, Capabilities]:
    """Return the capabilities by Zarr name of all codecs that can be imported.

    It imports no codec's class, and so neither Zarr nor a kernel.
    """
    found = {name: _load_capabilities(name) for name in names()}
    return {name: one for name, one in found.items() if one is not None}


def query_codec(name: str, question: Callable[[Capabilities], Result]) -> Result | None:
    """Call `question` with a codec's capabilities; warn and return None if a plugin fails.

    Errors of the array that the codec examines are raised.
    """
    own = capabilities()[name]
    entry = entry_of(name) if name in names() else None
    return entry_points.query_plugin(entry, lambda: question(own), (GangsawError, OSError))


def capabilities_of(name: str) -> Capabilities:
    """Return the capabilities of a codec; raise BadParams if it cannot be imported."""
    if (found := capabilities().get(name)) is None:
        raise _unusable(name)
    return found


def coding(parameter: str, value: object) -> BlockCodec:
    """Return the array codec that a codec's parameter names; raise BadParams for any other.

    Parameters
    ----------
    parameter : name of the parameter in the other codec
    value : a codec, its name, or its JSON
    """
    codec = _made(parameter, value) if isinstance(value, str | Mapping) else value
    if getattr(codec, "codec_name", None) not in table():
        raise BadParams(f"{parameter} must be a codec of arrays, got {codec!r:.60}")
    return cast("BlockCodec", codec)


def _made(parameter: str, value: str | Mapping[str, object]) -> BlockCodec:
    config = {"name": value} if isinstance(value, str) else value
    name = config.get("name")
    if not isinstance(name, str) or name not in table():
        raise BadParams(f"{parameter} must be one of {', '.join(table())}, got {name!r}")
    return codec_class(name).from_dict(cast("dict[str, JSON]", dict(config)))


def owners(option: str) -> list[str]:
    """Return the names of the codecs that have a command-line option with this name."""
    return [name for name, a in capabilities().items() if option in {o.name for o in a.options}]


def is_usable(name: str) -> bool:
    """Return True if the codec's class can be imported."""
    return _loaded(name) is not None


@lru_cache
def _loaded(name: str) -> type[NamedCodec] | None:
    entry = entry_of(name)

    def load() -> type[NamedCodec]:
        found = _class(entry)
        if name in contested():
            found.take_name()
        return found

    return entry_points.attempt(entry, load)


@lru_cache
def _load_capabilities(name: str) -> Capabilities | None:
    entry = entry_of(name)
    return entry_points.attempt(entry, lambda: _import_capabilities(entry))


def _class(entry: EntryPoint) -> type[NamedCodec]:
    found: type[NamedCodec] = entry.load()
    return found


def _import_capabilities(entry: EntryPoint) -> Capabilities:
    if not _has_module(entry, "selection"):
        return Capabilities()
    found = entry_points.checked(
        Capabilities, import_module(f"{_package(entry)}.selection").CAPABILITIES
    )
    for option in found.options:
        entry_points.checked(Option, option)
    return found


def _find_module(entry: EntryPoint) -> None:
    if find_spec(entry.module) is None:
        raise ModuleNotFoundError(f"no module {entry.module}")


def _import_all(entry: EntryPoint) -> None:
    """Import a codec's class and capabilities; raise an error if one is missing or incomplete."""
    _import_capabilities(entry)
    if not hasattr(found := _class(entry), "take_name"):
        raise TypeError(f"{found!r:.60} is no codec of ours")


def _package(entry: EntryPoint) -> str:
    return entry.module.rpartition(".")[0]


def _has_module(entry: EntryPoint, module: str) -> bool:
    return find_spec(f"{_package(entry)}.{module}") is not None


def _unusable(name: str) -> BadParams:
    return BadParams(f"{name} of {entry_points.distribution(entry_of(name))} cannot be imported")
