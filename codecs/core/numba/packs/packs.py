"""Packs: files with the compiled kernels of one level, for one Python, Numba and llvmlite.

    magic, length of the index (8 bytes, little endian), SHA-256 of the index, index, members

The index is JSON, compressed by zlib. Its `made` describes the target of the code. Its `members`
have name and signature of each kernel, and its bytes: offset, length, SHA-256. These bytes are
those of Numba's cache, compressed by zlib. A pack or member that is damaged or has another target
is ignored.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import struct
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np

from gangsaw.codecs.core.numba.packs.levels import Level, level_choice

MAGIC = b"gangsaw kernels\x01"
HEAD = struct.Struct("<16sQ32s")
LARGEST_INDEX = 1 << 26
SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "USING_SVML")
DAMAGED = (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error, struct.error)
UNREADABLE = (*DAMAGED, pickle.PickleError, ImportError, AttributeError, IndexError)


@dataclass(frozen=True)
class PackMember:
    """Entry of a pack's index: one compiled kernel.

    Attributes
    ----------
    kernel : "module:name" of the function
    signature : types of its arguments, as Numba writes them
    offset, length : offset after the index and size of its compressed bytes
    sha256 : SHA-256 of these bytes, in hexadecimal
    """

    kernel: str
    signature: str
    offset: int
    length: int
    sha256: str


@dataclass(frozen=True)
class Pack:
    """Open pack: kernels compiled in advance for one instruction set, in one file.

    Attributes
    ----------
    path : the file
    start : offset of the first kernel in the file
    members : kernels by key
    """

    path: Path
    start: int
    members: Mapping[str, PackMember]

    def load(self, key: str) -> tuple[object, ...] | None:
        """Return a kernel's machine code by its key; None if it is missing or damaged."""
        member = self.members.get(key)
        if member is None:
            return None
        try:
            packed = self._bytes(member)
            if hashlib.sha256(packed).hexdigest() != member.sha256:
                return None
            return tuple(pickle.loads(zlib.decompress(packed)))
        except UNREADABLE:
            return None

    def _bytes(self, member: PackMember) -> bytes:
        with self.path.open("rb") as file:
            file.seek(self.start + member.offset)
            return file.read(member.length)


def made_for(level: Level) -> dict[str, object]:
    """Return the target of a pack for JSON: the versions and instruction set of its code."""
    return {**versions(), "level": [level.name, level.cpu, level.llvm]}


def versions() -> dict[str, object]:
    """Return the versions and settings that machine code depends on, such as that of Numba."""
    return {
        "python": sys.implementation.cache_tag,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": int(np.__version__.split(".")[0]),
        "triple": llvmlite.binding.get_process_triple(),
        "settings": {name: str(getattr(numba.config, name, None)) for name in SETTINGS},
    }


@lru_cache
def current_pack() -> Pack | None:
    """Return the pack that this process uses; None without one."""
    choice = level_choice()
    if choice.level is None or choice.pack is None:
        return None
    return opened(choice.pack, choice.level)


def opened(path: Path, level: Level) -> Pack | None:
    """Open a pack and read its index; None if it is damaged, or was made for another target."""
    try:
        with path.open("rb") as file:
            magic, length, digest = HEAD.unpack(file.read(HEAD.size))
            if magic != MAGIC or length > LARGEST_INDEX:
                return None
            packed = file.read(length)
        if hashlib.sha256(packed).digest() != digest:
            return None
        index = json.loads(zlib.decompress(packed))
        if index["made"] != made_for(level):
            return None
        members = {key: PackMember(*values) for key, values in index["members"].items()}
        return Pack(path, HEAD.size + length, members)
    except DAMAGED:
        return None


def write(path: Path, level: Level, kernels: Iterable[tuple[str, str, str, bytes]]) -> int:
    """Write a pack of (key, kernel, signature, pickled code) atomically; return its bytes."""
    members: dict[str, list[object]] = {}
    payload: list[bytes] = []
    offset = 0
    for key, kernel, signature, code in sorted(kernels):
        packed = zlib.compress(code, 9)
        member = PackMember(
            kernel, signature, offset, len(packed), hashlib.sha256(packed).hexdigest()
        )
        members[key] = list(asdict(member).values())
        payload.append(packed)
        offset += len(packed)
    index = json.dumps({"made": made_for(level), "members": members}).encode()
    packed_index = zlib.compress(index, 9)
    head = HEAD.pack(MAGIC, len(packed_index), hashlib.sha256(packed_index).digest())
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f".{path.name}.part")
    whole.write_bytes(b"".join((head, packed_index, *payload)))
    whole.replace(path)
    return path.stat().st_size
