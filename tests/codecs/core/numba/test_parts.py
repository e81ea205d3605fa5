"""Compilers of kernels: options that are shared, and parts of calls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from numba.core.compiler import Flags

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.parts import (
    KernelCompiler,
    KernelFlags,
    Linked,
    LinkedCalls,
    LinkedRestrict,
    Restrict,
    SharedFlags,
)

COMPILERS = {
    "": KernelCompiler,
    "restrict": Restrict,
    "inline": KernelCompiler,
    "norefs": KernelCompiler,
    "part": Linked,
    "inline part": Linked,
    "restrict part": LinkedRestrict,
    "inline part norefs": Linked,
    "part norefs calls": LinkedCalls,
}
SETTINGS = {  # of Numba, by option
    "inline": ("forceinline", True),
    "part": ("no_cpython_wrapper", True),
    "norefs": ("_nrt", False),
}


class Pair(NamedTuple):
    """Two arrays."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]


@jit(restrict=True, part=True)
def add(values: Any, more: int) -> None:
    """Add to each value."""
    for i in range(values.size):
        values[i] += more


@jit(part=True, norefs=True, calls=True)
def add_to_both(pair: Any) -> None:
    """Add 1 and 2."""
    add(pair.first, 1)
    add(pair.second, 2)


@jit(norefs=True)
def add_twice(pair: Any) -> None:
    """Add 2 and 4."""
    add_to_both(pair)
    add_to_both(pair)


@pytest.mark.quick(cases=9)
@pytest.mark.parametrize("options", COMPILERS)
def test_options_choose_compiler_and_settings(options: str) -> None:
    compiled: Any = jit(**dict.fromkeys(options.split(), True))(lambda x: x)
    assert compiled._compiler.pipeline_class is COMPILERS[options]
    plain: Any = jit(lambda x: x)
    added = set(compiled.targetoptions.items()) - set(plain.targetoptions.items())
    assert added == {SETTINGS[name] for name in options.split() if name in SETTINGS}


def test_calls_are_parts_whose_arrays_may_overlap() -> None:
    with pytest.raises(KeyError):
        jit(calls=True)
    with pytest.raises(KeyError):
        jit(calls=True, part=True, restrict=True)


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


@jit(part=True)
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
