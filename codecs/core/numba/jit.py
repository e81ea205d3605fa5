"""Numba settings in one place: every kernel of every codec is compiled by `jit`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.extending
from numba.core.compiler import Compiler

from gangsaw.codecs.core.numba.cache import enable_cache
from gangsaw.codecs.core.numba.kept.levels import features
from gangsaw.codecs.core.numba.parts import (
    Linked,
    LinkedRestrict,
    Restrict,
    keep_bitcode,
    one_signature,
)

# only AVX-512 counts zeros, gathers items and spreads them in all lanes at once
HAS_AVX512 = {"avx512f", "avx512cd"} <= features()
HAS_GFNI = {"gfni", "avx2"} <= features()  # matrices of 8 x 8 bits


def folding_words() -> int:
    """Words of 64 bits that one instruction multiplies without carry; 0 where there is none."""
    here = features()
    if not {"pclmul", "crc32"} <= here:
        return 0
    wide = "vpclmulqdq" in here
    return 8 if wide and HAS_AVX512 else 4 if wide and "avx2" in here else 2


def shuffled_octets() -> int:
    """Bytes that one instruction looks up in a table of 16; 0 where there is none."""
    here = features()
    if "avx512bw" in here and HAS_AVX512:
        return 64
    return 32 if "avx2" in here else 16 if "ssse3" in here else 0


F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile on first use, cached on disk, with the GIL released."""
    return _compile(function)


def jit_restrict(function: F) -> F:
    """As `jit`, for inner loops: what is written through one argument is read through no other.

    Without it LLVM compares the addresses of all pairs of arrays before a loop, and gives up on
    vectors where there are more than eight pairs.
    """
    return _compile(function, pipeline_class=Restrict)


def jit_inline(function: F) -> F:
    """As `jit`, and always inlined by LLVM: for small functions that pass many pointers on."""
    return _compile(function, forceinline=True)


def jit_part(function: F) -> F:
    """As `jit`, for what only kernels call: it is compiled inside of these, and nowhere else."""
    return _part(function)


def jit_inline_part(function: F) -> F:
    """As `jit_inline`, for what only kernels call."""
    return _part(function, forceinline=True)


def jit_restrict_part(function: F) -> F:
    """As `jit_restrict`, for what only kernels call."""
    return _part(function, pipeline_class=LinkedRestrict)


def jit_norefs(function: F) -> F:
    """As `jit`, for kernels that make no arrays and pass many on: references are not counted.

    Numba counts one up and down for each array of each call, by an atomic operation: hundreds of
    them where tuples of arrays are passed on.
    """
    return _compile(function, _nrt=False)


def jit_norefs_part(function: F) -> F:
    """As `jit_norefs`, for what only kernels call."""
    return _part(function, _nrt=False)


def jit_norefs_inline(function: F) -> F:
    """As `jit_norefs_part`, and always inlined by LLVM."""
    return _part(function, _nrt=False, forceinline=True)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Define a function of kernels by its LLVM code; Any, since a kernel calls it otherwise."""
    return numba.extending.intrinsic(function)


def _part(function: F, *, pipeline_class: type[Linked] = Linked, **options: Any) -> F:
    compiled = _compile(function, pipeline_class, no_cpython_wrapper=True, **options)
    keep_bitcode(compiled)
    return compiled


def _compile(function: F, pipeline_class: Any = Compiler, **options: Any) -> F:
    """Decorate a function; it has no wrapper for code of C, since none calls it."""
    compiled: Any = numba.njit(
        nogil=True,
        error_model="numpy",
        boundscheck=False,
        no_cfunc_wrapper=True,
        pipeline_class=pipeline_class,
        **options,
    )(function)
    one_signature(compiled)
    enable_cache(compiled, Path(function.__code__.co_filename))
    return cast(F, compiled)
