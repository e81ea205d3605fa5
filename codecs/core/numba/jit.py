"""Numba's settings in one place: all kernels of all codecs are compiled with `jit`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.extending

from gangsaw.codecs.core.numba.cache import enable_cache
from gangsaw.codecs.core.numba.packs.levels import features
from gangsaw.codecs.core.numba.parts import (
    KernelCompiler,
    Linked,
    LinkedCalls,
    LinkedRestrict,
    Restrict,
    one_signature,
    rebuild_part,
)

# AVX-512 alone counts zeros in all lanes, and gathers and expands items
HAS_AVX512 = {"avx512f", "avx512cd"} <= features()
HAS_GFNI = {"gfni", "avx2"} <= features()  # matrices of 8 x 8 bits


def folding_words() -> int:
    """Return how many 64-bit words a CRC folding step multiplies carryless at once.

    It is 0 if the processor lacks the instructions.
    """
    here = features()
    if not {"pclmul", "crc32"} <= here:
        return 0
    wide = "vpclmulqdq" in here
    return 8 if wide and HAS_AVX512 else 4 if wide and "avx2" in here else 2


def shuffled_bytes() -> int:
    """Return how many bytes one instruction looks up in a table of 16 bytes; 0 without one."""
    here = features()
    if "avx512bw" in here and HAS_AVX512:
        return 64
    return 32 if "avx2" in here else 16 if "ssse3" in here else 0


F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a function on first use, cached on disk, with the GIL released."""
    return _compile(function)


def jit_restrict(function: F) -> F:
    """Compile an inner loop like `jit`, assuming that its array arguments do not overlap.

    Otherwise LLVM compares the addresses of all pairs of arrays before a loop, and does not
    vectorise with more than eight pairs.
    """
    return _compile(function, pipeline_class=Restrict)


def jit_inline(function: F) -> F:
    """Compile a small function like `jit`, and always inline it into its callers."""
    return _compile(function, forceinline=True)


def jit_part(function: F) -> F:
    """Compile a function like `jit` that only kernels call, as a part of these kernels."""
    return _part(function)


def jit_inline_part(function: F) -> F:
    """Compile a function that only kernels call, as a part of these, always inlined."""
    return _part(function, forceinline=True)


def jit_restrict_part(function: F) -> F:
    """Compile an inner loop like `jit_restrict` that only kernels call, as a part of these."""
    return _part(function, pipeline_class=LinkedRestrict)


def jit_norefs(function: F) -> F:
    """Compile a kernel like `jit`, without reference counts: it must not create arrays.

    Numba increments and decrements a count for each array of each call, with atomic operations:
    these are hundreds if a kernel passes tuples of arrays on.
    """
    return _compile(function, _nrt=False)


def jit_norefs_part(function: F) -> F:
    """Compile a function like `jit_norefs` that only kernels call, as a part of these."""
    return _part(function, _nrt=False)


def jit_calls_part(function: F) -> F:
    """Compile a function like `jit_norefs_part` that only calls others with hundreds of arrays.

    It must have no loops. LLVM optimises it only when it is linked into a kernel: before, the
    arrays of each call took seconds.
    """
    return _part(function, pipeline_class=LinkedCalls, _nrt=False)


def jit_norefs_inline(function: F) -> F:
    """Compile a function like `jit_norefs_part`, always inlined by LLVM."""
    return _part(function, _nrt=False, forceinline=True)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Decorate a function that emits LLVM code, so that kernels can call it (`numba.extending`).

    The result is typed Any, since kernels call it with other arguments.
    """
    return numba.extending.intrinsic(function)


def _part(function: F, *, pipeline_class: type[Linked] = Linked, **options: Any) -> F:
    return _compile(function, pipeline_class, rebuild_part, no_cpython_wrapper=True, **options)


def _compile(
    function: F,
    pipeline_class: Any = KernelCompiler,
    rebuild: Callable[..., object] | None = None,
    **options: Any,
) -> F:
    """Decorate a function with Numba's settings for kernels and the cache of compiled code."""
    compiled: Any = numba.njit(
        nogil=True,
        error_model="numpy",
        boundscheck=False,
        no_cfunc_wrapper=True,
        pipeline_class=pipeline_class,
        **options,
    )(function)
    one_signature(compiled)
    enable_cache(compiled, Path(function.__code__.co_filename), rebuild)
    return cast(F, compiled)
