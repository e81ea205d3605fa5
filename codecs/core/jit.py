"""Numba settings in one place: every kernel of every codec is compiled by `jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from gangsaw.codecs.core.cache import enable_cache

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile on first use, cached on disk, with the GIL released."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", boundscheck=False)(function)
    enable_cache(compiled, function)
    return cast(F, compiled)
