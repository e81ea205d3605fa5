"""Private names of Numba: no other file of the package takes or replaces any.

Numba has no public counterpart for them, so its version is bounded above. Tests look for each name
in Numba's class.

With `GANGSAW_PRIVATE_NUMBA=0` in the environment, kernels do without them, as a way out if a Numba
release breaks one. Numba then compiles each function on its own, for this processor, and caches by
its own means. First runs take longer, packs and compilation ahead of use do nothing, and a cache is
not renewed if another file of Gangsaw changes. Kernels then take only `struct_value`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import llvmlite.binding as llvm
from numba.core.base import BaseContext
from numba.core.codegen import Codegen, JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher

IS_USED = os.environ.get("GANGSAW_PRIVATE_NUMBA") != "0"
BITCODE = "bitcode"  # Numba's name for a library without machine code

# creates a compile result from target context and stored data; its name is part of keys
rebuild_result = CompileResult._rebuild


def stored_data(result: CompileResult) -> Any:
    """Return the data of a compile result for `rebuild_result`."""
    return result._reduce()


def cache_of(kernel: Dispatcher) -> Any:
    """Return the cache of a kernel."""
    return kernel._cache


def set_cache(kernel: Dispatcher, cache: object) -> None:
    """Replace the cache of a kernel."""
    kernel._cache = cache


def set_load_hook(kernel: Dispatcher, hook: Callable[[], None]) -> None:
    """Replace the function that loads Numba's extensions before a kernel is compiled."""
    kernel._compilation_chain_init_hook = hook


def struct_value(struct: Any) -> Any:
    """Return the LLVM value of a struct, such as an array, from its proxy."""
    return struct._getvalue()


@contextmanager
def exchanged_codegen(context: BaseContext, codegen: Codegen) -> Iterator[None]:
    """Make Numba generate code by another generator in the body; the caller has Numba's lock."""
    before = context._internal_codegen
    context._internal_codegen = codegen
    try:
        yield
    finally:
        context._internal_codegen = before


class ChosenCodegen(JITCPUCodegen):  # type: ignore[misc]  # Numba has no types
    """Code generator of Numba for a processor that a subclass chooses."""

    def chosen(self) -> tuple[str, str] | None:
        """Return LLVM's names of a processor and of its features; None for this processor."""
        raise NotImplementedError

    def _get_host_cpu_name(self) -> str:
        found = self.chosen()
        return found[0] if found else str(super()._get_host_cpu_name())

    def _get_host_cpu_features(self) -> str:
        found = self.chosen()
        return found[1] if found else str(super()._get_host_cpu_features())


class BitcodeLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """LLVM code of a function that is neither optimised nor compiled to machine code."""

    @property
    def process_codegen(self) -> Codegen:
        """Code generator that the library was made by."""
        return self._codegen

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return the data for `unserialized`."""
        return self.name, BITCODE, self._get_module_for_linking().as_bitcode()

    @classmethod
    def unserialized(cls, codegen: Codegen, data: tuple[str, str, bytes]) -> Self:
        """Return the library from its serialized data."""
        library = cls(codegen, data[0])
        library._final_module = llvm.parse_bitcode(data[2])
        library._finalize_final_module()
        return library

    def link_in(self, module: llvm.ModuleRef) -> None:
        """Link LLVM code into the library as it is."""
        self._final_module.link_in(module)

    def _optimize_final_module(self) -> None:
        """Do nothing: the kernel that the code is linked into optimises it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
