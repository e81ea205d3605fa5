"""Numba settings in one place: every kernel of every codec is compiled by `jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile on first use, cached on disk, with the GIL released."""
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)(
        function
    )
    return compiled
