"""Numba's settings in one place: all kernels of all codecs are compiled with `jit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast, overload

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
from gangsaw.codecs.core.numba.private import IS_USED

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


# compiler by the options part, restrict and calls; other combinations do not exist
COMPILERS: dict[tuple[bool, bool, bool], type[KernelCompiler]] = {
    (False, False, False): KernelCompiler,
    (False, True, False): Restrict,
    (True, False, False): Linked,
    (True, True, False): LinkedRestrict,
    (True, False, True): LinkedCalls,
}


@overload
def jit(function: F, /) -> F: ...


@overload
def jit(
    *,
    restrict: bool = False,
    inline: bool = False,
    part: bool = False,
    norefs: bool = False,
    calls: bool = False,
) -> Callable[[F], F]: ...


def jit(
    function: F | None = None,
    /,
    *,
    restrict: bool = False,
    inline: bool = False,
    part: bool = False,
    norefs: bool = False,
    calls: bool = False,
) -> F | Callable[[F], F]:
    """Compile a function on first use, cached on disk, with the GIL released.

    `@jit` takes no options, `@jit(part=True)` takes some.

    Parameters
    ----------
    function : function to compile
    restrict : assume that the array arguments of an inner loop do not overlap. Otherwise LLVM
        compares the addresses of all pairs of arrays before a loop, and does not vectorise with
        more than eight pairs.
    inline : let LLVM always inline a small function into its callers
    part : compile a function that only kernels call as a part of these kernels
    norefs : compile without reference counts: the function must not create arrays. Numba increments
        and decrements a count for each array of each call, with atomic operations: these are
        hundreds if a kernel passes tuples of arrays on.
    calls : compile a part that only calls others with hundreds of arrays. It must have no loops.
        LLVM optimises it only when it is linked into a kernel: before, the arrays of each call took
        seconds.
    """
    options: dict[str, bool] = {}
    if norefs:
        options["_nrt"] = False
    if inline:
        options["forceinline"] = True
    if part:
        options["no_cpython_wrapper"] = True
    compiler, rebuild = COMPILERS[part, restrict, calls], rebuild_part if part else None

    def compile_it(function: F) -> F:
        return _compile(function, compiler, rebuild, options)

    return compile_it if function is None else compile_it(function)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Decorate a function that emits LLVM code, so that kernels can call it (`numba.extending`).

    The result is typed Any, since kernels call it with other arguments.
    """
    return numba.extending.intrinsic(function)


def _compile(
    function: F,
    compiler: type[KernelCompiler],
    rebuild: Callable[..., object] | None,
    options: Mapping[str, bool],
) -> F:
    """Decorate a function with Numba's settings for kernels and the cache of compiled code."""
    settings = {"nogil": True, "error_model": "numpy", "boundscheck": False, **options}
    if not IS_USED:
        plain: Any = numba.njit(cache=True, **settings)(function)
        one_signature(plain)
        return cast(F, plain)
    compiled: Any = numba.njit(no_cfunc_wrapper=True, pipeline_class=compiler, **settings)(function)
    one_signature(compiled)
    enable_cache(compiled, Path(function.__code__.co_filename), rebuild)
    return cast(F, compiled)
