"""Compilers of kernels: what only kernels call is compiled inside of these, and nowhere else.

Numba optimises each function, makes machine code of it, links it into each caller, and does both
again there. A part is only linked. That took a fifth of the time of a first run; LLVM also inlines
before it unrolls. Failed: to run fewer passes before linking, since all are run again after it. A
sixth of the time fell away, and exact alignment and bases that are coded densely took 12 to 19 %
longer.
"""

from __future__ import annotations

from typing import Any, Protocol

import llvmlite.binding as llvm
from numba.core import types
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult

BITCODE = "bitcode"  # Numba's word for a library without machine code


class Numbers(Protocol):
    """What is asked of a type of Numba."""

    name: str


def one_signature(compiled: Any) -> None:
    """Let kernels call a kernel by the type of a number, where Numba would go by its value.

    A kernel that was called with 0, 1 and a variable was compiled three times. LLVM still sees the
    values wherever it inlines.
    """
    template = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: template(
        tuple(_plain(kind) for kind in args), {name: _plain(kind) for name, kind in kws.items()}
    )


def keep_bitcode(compiled: Any) -> None:
    """Let a part's cache on disk give back what `Linked` made."""
    kept = getattr(getattr(compiled, "_cache", None), "_impl", None)
    if kept is not None:  # none where no folder can be written
        kept.__class__ = _PartCache


def _plain(kind: Numbers) -> Numbers:
    numbers = types.IntegerLiteral, types.BooleanLiteral
    plain: Numbers = types.unliteral(kind) if isinstance(kind, numbers) else kind
    return plain


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """Code that is linked into other code, and optimised there."""

    @property
    def codegen(self) -> _NoAddresses:
        """The code generator, but for addresses."""
        return _NoAddresses(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return what `unserialized` takes."""
        return self.name, BITCODE, self._get_module_for_linking().as_bitcode()

    @classmethod
    def unserialized(cls, codegen: Any, data: tuple[str, str, bytes]) -> LinkedLibrary:
        """Return the library that was serialized."""
        library = cls(codegen, data[0])
        library._final_module = llvm.parse_bitcode(data[2])
        library._finalize_final_module()
        return library

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel which it is linked into."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class Restrict(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler with every array argument `restrict`, as in C."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags.noalias = True


class Linked(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler without machine code."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), "part")


class LinkedRestrict(Linked):
    """Both."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags.noalias = True


class _Instead:
    """Stands for an object of Numba, but for some methods."""

    def __init__(self, it: Any) -> None:
        self._it = it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._it, name)


class _NoAddresses(_Instead):
    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: only what a kernel takes from Python's objects has an address to be set."""
        if environment.consts:
            raise NotImplementedError(f"a part with objects of Python: {name}")


class _PartContext(_Instead):
    def codegen(self) -> _PartCodegen:
        """A generator whose libraries are parts."""
        return _PartCodegen(self._it.codegen())


class _PartCodegen(_Instead):
    def unserialize_library(self, data: tuple[str, str, bytes]) -> LinkedLibrary:
        """Return a part from the cache."""
        return LinkedLibrary.unserialized(self._it, data)


class _PartCache(CompileResultCacheImpl):  # type: ignore[misc]  # Numba has no types
    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> CompileResult:
        """Return a part as its compiler gave it."""
        result = CompileResult._rebuild(_PartContext(target_context), *payload)
        return result._replace(target_context=target_context)
