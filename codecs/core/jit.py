"""Numba settings in one place: every kernel of every codec is compiled by `jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.compiler import Compiler

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile on first use, cached on disk, with the GIL released."""
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)(
        function
    )
    return compiled


class _Restrict(Compiler):
    """Numba's compiler with every array argument `restrict`, as in C."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags.noalias = True


def jit_restrict(function: F) -> F:
    """As `jit`, for inner loops: what is written through one argument is read through no other.

    Without it LLVM compares the addresses of all pairs of arrays before a loop, and gives up on
    vectors where there are more than eight pairs.
    """
    compiled: F = numba.njit(
        cache=True, nogil=True, error_model="numpy", boundscheck=False, pipeline_class=_Restrict
    )(function)
    return compiled
