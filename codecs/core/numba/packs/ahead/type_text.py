"""Text form of kernel argument types: `int64`, `uint8[1C]`, `(a, b)`, `module:Name(a, b)`.

An array is its dtype, then rank and memory layout in brackets; "!" marks a read-only array, "?" an
unaligned one. A named tuple is the class with the types of its fields, a record
`{name:int64 ...}`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from operator import attrgetter

import numpy as np
from numba.core import types
from numba.np.numpy_support import from_dtype

SCALARS = {
    str(kind): kind
    for kind in (*types.number_domain, types.boolean, types.none, types.unicode_type)
}
TOKEN = re.compile(r"\{[^}]*\}|[\w.:]+|\[\d+[CFA][!?]*\]|[(),]")
ARRAY = re.compile(r"\[(\d+)([CFA])([!?]*)\]")


def write_types(signature: Iterable[types.Type]) -> str:
    """Return Numba argument types as text; raise ValueError for a type without a text form."""
    return f"({', '.join(map(_write, signature))})"


def parse_types(text: str) -> tuple[types.Type, ...]:
    """Parse the text of `write_types` to Numba types.

    Raises
    ------
    ValueError : the text has another format
    ImportError, AttributeError : a class does not exist any more
    """
    tokens = deque(TOKEN.findall(text))
    try:
        found = _members(tokens)
    except IndexError:
        raise ValueError(f"types end too early: {text:.80}") from None
    if tokens:
        raise ValueError(f"more follows the types: {text:.80}")
    return found


def _write(kind: types.Type) -> str:
    if isinstance(kind, types.BaseTuple):
        owner = getattr(kind, "instance_class", None)
        name = "" if owner is None else f"{owner.__module__}:{owner.__qualname__}"
        return name + write_types(kind)
    if type(kind) is types.Array:
        marks = ("" if kind.mutable else "!") + ("" if kind.aligned else "?")
        return f"{_write(kind.dtype)}[{kind.ndim}{kind.layout}{marks}]"
    if isinstance(kind, types.Record):
        text = " ".join(f"{name}:{_write(field.type)}" for name, field in kind.fields.items())
        if _record(text) == kind:
            return f"{{{text}}}"
    if SCALARS.get(str(kind)) != kind:
        raise ValueError(f"a type without text: {kind}")
    return str(kind)


def _members(tokens: deque[str]) -> tuple[types.Type, ...]:
    if tokens.popleft() != "(":
        raise ValueError("types stand in parentheses")
    found = []
    while tokens[0] != ")":
        found.append(_parse(tokens))
        if tokens[0] == ",":
            tokens.popleft()
    tokens.popleft()
    return tuple(found)


def _parse(tokens: deque[str]) -> types.Type:
    if tokens[0] == "(":
        return types.BaseTuple.from_types(_members(tokens))
    name = tokens.popleft()
    if ":" in name and name[0] != "{":
        return types.BaseTuple.from_types(_members(tokens), _class_named(name))
    if name[0] != "{" and name not in SCALARS:
        raise ValueError(f"no type is called {name}")
    plain = _record(name[1:-1]) if name[0] == "{" else SCALARS[name]
    if not tokens or (array := ARRAY.fullmatch(tokens[0])) is None:
        return plain
    tokens.popleft()
    ndim, layout, marks = array.groups()
    return types.Array(plain, int(ndim), layout, "!" in marks, aligned="?" not in marks)


@lru_cache
def _record(text: str) -> types.Type:
    """Return Numba's record type of packed fields from "name:type name:type ..."."""
    fields = [field.split(":") for field in text.split()]
    return from_dtype(np.dtype([(name, np.dtype(kind)) for name, kind in fields]))


@lru_cache
def _class_named(name: str) -> type[tuple[object, ...]]:
    module, _, path = name.partition(":")
    owner: type[tuple[object, ...]] = attrgetter(path)(import_module(module))
    return owner
