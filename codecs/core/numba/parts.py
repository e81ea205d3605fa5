"""Compilers of kernels: parts go into the kernels that call them, and are compiled there alone.

Numba optimises each function, makes machine code of it, and then does both again for each caller.
What only kernels call needs neither: it is optimised where it is inlined.
"""

from __future__ import annotations

import os
from typing import Any

from numba.core import types
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult

MODE = os.environ.get("PARTS", "lazy")


def one_signature(compiled: Any) -> None:
    """Let kernels call a kernel by the type of a number, where Numba would go by its value."""
    if not os.environ.get("LITERALS"):
        template = compiled.get_call_template
        compiled.get_call_template = lambda args, kws: template(
            tuple(_plain(kind) for kind in args), {name: _plain(kws[name]) for name in kws}
        )


def _plain(kind: Any) -> Any:
    numbers = types.IntegerLiteral, types.BooleanLiteral
    return types.unliteral(kind) if isinstance(kind, numbers) else kind


class Restrict(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler with every array argument `restrict`, as in C."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags.noalias = True


class Part(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler without machine code."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if MODE != "off":
            name = self.state.func_id.func_qualname if self.state.func_id else "part"
            self.state.library = PartLibrary(self.state.targetctx.codegen(), name)
            self.state.library.enable_object_caching()


class _NoAddresses:
    """A code generator for which environments of functions have no address."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Refuse what kernels would read from an environment."""
        if environment.consts:
            raise AssertionError(f"{name}: a part must not hold objects of Python")


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """Code that is only linked into other code."""

    @property
    def codegen(self) -> Any:
        """The code generator, without addresses."""
        return _NoAddresses(self._codegen)

    def _optimize_final_module(self) -> None:
        if MODE == "full":
            super()._optimize_final_module()
        if MODE == "cheap":
            mpm, mpb = self._codegen._module_pass_manager(
                loop_vectorize=self._codegen._loopvect,
                slp_vectorize=False,
                opt=self._codegen._opt_level,
                cost="cheap",
            )
            mpm.run(self._final_module, mpb)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return the code to link, by which the library is found again."""
        return (self.name, "bitcode", self._get_module_for_linking().as_bitcode())


class PartCache(CompileResultCacheImpl):  # type: ignore[misc]  # Numba has no types
    """Keeps parts on disk."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return a part as its compiler gave it."""
        return CompileResult._rebuild(_PartContext(target_context), *payload)


class _PartContext:
    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> Any:
        return _PartCodegen(self._context.codegen())


class _PartCodegen:
    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def unserialize_library(self, serialized: Any) -> PartLibrary:
        name, _, bitcode = serialized
        import llvmlite.binding as ll

        library = PartLibrary(self._codegen, name)
        library._final_module = ll.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library
