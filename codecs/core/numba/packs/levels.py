"""Levels of instructions: targets of kernels in packs, and the choice of one for this process.

A level is a step of the x86-64 psABI (v3 has AVX2, v4 AVX-512) with further instructions that
kernels use: multiplication without carry, and matrices of bits. Code of a level runs on each
processor with its features. Constants of kernels (`HAS_AVX512`, ...) and LLVM's target are those of
the level even if the processor has more. Otherwise a kernel of a pack and one compiled here would
differ in them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numba
from numba.core.codegen import get_host_cpu_features

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba.packs import pack_files

# a level's name; `host`: this processor; unset: by packs, see `level_choice`
LEVEL = "GANGSAW_LEVEL"
HOST = "host"
UNRUN = "GANGSAW_COMPILE_ONLY"  # variable: kernels are compiled for LEVEL, and none runs


@dataclass(frozen=True)
class Level:
    """Instruction set that kernels of a pack are compiled for, such as x86-64-v3.

    Attributes
    ----------
    name : name, as in the file names of packs
    cpu : LLVM's name of a processor, which determines costs of instructions
    features : LLVM's names of all features that the processor must have
    wide : True if vectors have 64 bytes
    """

    name: str
    cpu: str
    features: frozenset[str]
    wide: bool = False

    @property
    def llvm(self) -> str:
        """Features in LLVM's notation."""
        return ",".join(f"+{name}" for name in sorted(self.features))


def _features(names: str) -> frozenset[str]:
    return frozenset(names.split())


_BASE = _features("64bit cmov cx8 fxsr mmx sse sse2")
_V2 = _BASE | _features("cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3 crc32")
# pclmul is in no psABI level, but in every processor of v3
_V3 = _V2 | _features("avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave pclmul")
_V4 = _V3 | _features("avx512f avx512bw avx512cd avx512dq avx512vl")
_CARRYLESS = _features("vpclmulqdq")
_MATRICES = _features("vpclmulqdq gfni")

# Best first: a processor's own level is the first one whose features it has.
LEVELS = (
    Level("x86-64-v4-gfni", "x86-64-v4", _V4 | _MATRICES, wide=True),  # Ice Lake, Zen 4
    Level("x86-64-v4", "x86-64-v4", _V4, wide=True),  # Skylake-X, Cascade Lake
    Level("x86-64-v3-gfni", "x86-64-v3", _V3 | _MATRICES),  # Alder Lake
    Level("x86-64-v3-vpclmul", "x86-64-v3", _V3 | _CARRYLESS),  # Zen 3
    Level("x86-64-v3", "x86-64-v3", _V3),  # Haswell to Skylake, Zen 1 and 2
    Level("aarch64", "generic", _features("fp-armv8 neon")),
)


@dataclass(frozen=True)
class LevelChoice:
    """Choice of the instruction set that kernels of this process are compiled for.

    Attributes
    ----------
    level : None to compile for this processor, as Numba does
    pack : file with the kernels compiled for the level, if there is one
    why : reason for the choice, for messages
    """

    level: Level | None
    pack: Path | None
    why: str


def level_named(name: str) -> Level:
    """Return the instruction set with this name; raise BadParams if there is none."""
    for level in LEVELS:
        if level.name == name:
            return level
    known = ", ".join(level.name for level in LEVELS)
    raise BadParams(f"no level of instructions is called {name!r}: there are {known}")


def host_features() -> frozenset[str]:
    """Return the features (LLVM's names) of the processor that Numba compiles for.

    Numba uses no AVX if NUMBA_ENABLE_AVX is 0. If it is configured for another processor, only
    NUMBA_CPU_FEATURES counts.
    """
    config = numba.config
    if config.CPU_FEATURES is not None:
        features = config.CPU_FEATURES
    else:
        features = get_host_cpu_features() if config.CPU_NAME in (None, "host") else ""
    return frozenset(name[1:] for name in features.split(",") if name.startswith("+"))


def host_levels() -> tuple[Level, ...]:
    """Return the instruction sets that this processor supports, the best first."""
    here = host_features()
    return tuple(level for level in LEVELS if level.features <= here)


def features() -> frozenset[str]:
    """Return the processor features (LLVM's names) that kernels of this process may use."""
    level = level_choice().level
    return host_features() if level is None else level.features


@lru_cache
def level_choice() -> LevelChoice:
    """Choose the instruction set of kernels, once per process; BadParams if LEVEL is invalid.

    Numba's variables (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES) have priority, then LEVEL. Otherwise it
    is the best level of this processor with a pack. But a pack with vectors of 32 bytes is not used
    if the processor has 64. Its kernels always run at a third to a half of the speed, and compiling
    costs a minute, once. Other differences between levels are a few per cent.
    """
    requested = os.environ.get(LEVEL, "")
    if numba.config.CPU_NAME is not None or numba.config.CPU_FEATURES is not None:
        return _numba_choice()
    if requested == HOST:
        return LevelChoice(None, None, f"{LEVEL} is {HOST}")
    return _requested(level_named(requested)) if requested else _best()


def _numba_choice() -> LevelChoice:
    """Return the choice if Numba's variables are set: the level that they describe, or none."""
    present = host_features()
    for level in LEVELS:
        if level.cpu == numba.config.CPU_NAME and present == level.features:
            return _with_pack(level, "set by NUMBA_CPU_NAME and NUMBA_CPU_FEATURES")
    return LevelChoice(
        None, None, "NUMBA_CPU_NAME or NUMBA_CPU_FEATURES selects what to compile for"
    )


def _requested(level: Level) -> LevelChoice:
    if level not in host_levels() and not os.environ.get(UNRUN):
        missing = ", ".join(sorted(level.features - host_features()))
        raise BadParams(f"{LEVEL} is {level.name}, but this processor has no {missing}")
    return _with_pack(level, f"set by {LEVEL}")


def _best() -> LevelChoice:
    able = host_levels()
    if not able:
        return LevelChoice(None, None, "this processor has the features of no level")
    for level in able:
        if level.wide == able[0].wide and pack_files.pack_of(level.name) is not None:
            return _with_pack(level, "the best level of this processor that has a pack")
    narrow = next((level for level in able if pack_files.pack_of(level.name)), None)
    if narrow is None:
        return LevelChoice(None, None, f"no pack exists for {able[0].name}")
    hint = f"{LEVEL}={narrow.name} selects an existing pack, with narrower vectors"
    return LevelChoice(None, None, f"no pack exists for {able[0].name}; {hint}")


def _with_pack(level: Level, why: str) -> LevelChoice:
    return LevelChoice(level, pack_files.pack_of(level.name), why)
