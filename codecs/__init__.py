"""Codecs: what happens inside one chunk. Each is imported when it is first named.

`gangsaw.codecs.<Name>` is the class of a codec of the table, `<Name>V2` that for Zarr v2, which is
derived from it. Type checkers read `__init__.pyi`.
"""

from __future__ import annotations

V2 = "V2"


def __getattr__(name: str) -> object:
    if name == "__all__":
        return _names()
    if name.startswith("_"):  # of Python's machinery
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gangsaw.codecs.core.codec_table import named_class

    if name in (homes := _homes()):
        return named_class(homes[name])
    if name.endswith(V2) and name.removesuffix(V2) in homes:
        from gangsaw.codecs.core.zarr.v2 import derived

        kind: object = named_class(homes[name.removesuffix(V2)])
        return derived(kind)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _homes() -> dict[str, str]:
    """Return the Zarr name of each class of the table."""
    from gangsaw.codecs.core.codec_table import entry_of, names

    return {entry_of(name).attr: name for name in names()}


def _names() -> list[str]:
    """Return the names that are derived."""
    homes = _homes()
    return sorted([*homes, *(name + V2 for name in homes)])


def __dir__() -> list[str]:
    return [*_names(), "core"]
