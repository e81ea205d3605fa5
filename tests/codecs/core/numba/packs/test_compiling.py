"""Compilation, among threads and packages that add to Numba."""

from __future__ import annotations

import pytest
from numba.core import entrypoints
from numba.core.compiler_lock import global_compiler_lock

from gangsaw.codecs.core.numba.jit import jit


def test_what_others_add_to_numba_is_loaded_while_nothing_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    locked: list[bool] = []
    monkeypatch.setattr(
        entrypoints, "init_all", lambda: locked.append(global_compiler_lock.is_locked())
    )

    @jit
    def kernel(x: int) -> int:
        return x + 1

    assert kernel(1) == 2
    assert locked
    assert all(locked)
