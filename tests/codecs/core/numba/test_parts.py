"""Compilers of kernels: options that are shared, and parts of calls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.core.compiler import Flags

from gangsaw.codecs.core.numba.jit import (
    jit,
    jit_calls_part,
    jit_norefs,
    jit_part,
    jit_restrict_part,
)
from gangsaw.codecs.core.numba.parts import KernelFlags, SharedFlags


class Pair(NamedTuple):
    """Two arrays."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]


@jit_restrict_part
def add(values: Any, more: int) -> None:
    """Add to each value."""
    for i in range(values.size):
        values[i] += more


@jit_calls_part
def add_to_both(pair: Any) -> None:
    """Add 1 and 2."""
    add(pair.first, 1)
    add(pair.second, 2)


@jit_norefs
def add_twice(pair: Any) -> None:
    """Add 2 and 4."""
    add_to_both(pair)
    add_to_both(pair)


def test_a_part_of_calls_computes_and_can_be_cached() -> None:
    pair = Pair(np.arange(3), np.arange(3))
    add_twice(pair)
    np.testing.assert_array_equal(pair.first, [2, 3, 4])
    np.testing.assert_array_equal(pair.second, [4, 5, 6])
    for kernel in (add, add_to_both, add_twice):
        compiled: Any = kernel
        for overload in compiled.overloads.values():  # Numba caches none that has addresses
            assert not overload.library.has_dynamic_globals


@jit
def doubled(values: Any) -> Any:
    """Return each value twice; Python calls it, too."""
    return np.repeat(values, 2)


@jit_part
def doubled_twice(values: Any) -> Any:
    """Return each value four times."""
    return doubled(doubled(values))


def kernel_of_a_part(more: int) -> Any:
    """A kernel that closes over a value, which no cache has."""

    @jit
    def kernel(values: Any) -> Any:
        return doubled_twice(values) + more

    return kernel


def test_a_cached_part_that_calls_a_kernel_of_python_is_compiled_again() -> None:
    np.testing.assert_array_equal(doubled(np.arange(2)), [0, 0, 1, 1])
    part: Any = doubled_twice
    for more in (0, 1):
        found = kernel_of_a_part(more)(np.arange(2))
        np.testing.assert_array_equal(found, np.repeat([0, 1], 4) + more)
        part.overloads.clear()  # as in a process in which it was not compiled


def test_equal_options_are_one_object_as_numba_compares_them() -> None:
    flags, others = KernelFlags(), KernelFlags()
    flags.nrt = others.nrt = True
    plain = Flags(flags)
    assert flags.copy() is others.copy()
    assert flags.copy() == plain
    assert plain == flags.copy()
    assert hash(flags.copy()) == hash(plain)
    others.noalias = True
    assert others.copy() is not flags.copy()
    assert others.copy() != flags.copy()


def test_a_copy_of_shared_options_may_be_changed() -> None:
    shared = KernelFlags().copy()
    assert isinstance(shared, SharedFlags)
    copied = shared.copy()
    copied.no_compile = True
    assert not shared.no_compile
    assert copied != shared
