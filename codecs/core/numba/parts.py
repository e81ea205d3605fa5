"""Compilers of kernels: a function that only kernels call is compiled as a part of them.

Numba optimises each function, generates its machine code, links it into each caller, and does both
again there. A part is only linked. Without parts, this took a fifth of the time of a first run;
LLVM also inlines before it unrolls. Failed: running fewer passes before linking, since all run
again after it. It saved a sixth of the time, but exact alignment and dense coding of bases took
12 to 19 % longer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import llvmlite.binding as llvm
from numba.core import types
from numba.core.base import BaseContext
from numba.core.codegen import Codegen
from numba.core.compiler import Compiler, CompileResult, Flags
from numba.core.dispatcher import Dispatcher

from gangsaw.codecs.core.numba.private import BitcodeLibrary, rebuild_result

_shared_flags: dict[str, SharedFlags] = {}  # by their differences from the defaults


class Numbers(Protocol):
    """Interface of Numba's types of numbers."""

    name: str


def one_signature(compiled: Dispatcher) -> None:
    """Make kernels call a kernel by the type of a number, not by its literal value as Numba does.

    A kernel with calls for 0, 1 and a variable was compiled three times. LLVM still sees the values
    wherever it inlines.
    """
    template = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: template(
        tuple(_plain(kind) for kind in args), {name: _plain(kind) for name, kind in kws.items()}
    )


def rebuild_part(target_context: BaseContext, *stored: Any) -> CompileResult | None:
    """Restore the compile result of a part from cached data; None to compile it again.

    A part is code that is linked into kernels. A kernel that Python calls, too, may have Python
    objects, which belong to one process. A part that calls it is compiled with it.
    """
    try:
        result = rebuild_result(_PartContext(target_context), *stored)
    except PartWithObjects:
        return None
    return result._replace(target_context=target_context)


@lru_cache
def _pass_builder() -> Any:
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())


def _plain(kind: Numbers) -> Numbers:
    numbers = types.IntegerLiteral, types.BooleanLiteral
    plain: Numbers = types.unliteral(kind) if isinstance(kind, numbers) else kind
    return plain


class PartWithObjects(Exception):
    """Error of cached code of a part that needs addresses of Python objects, which are lost."""


class LinkedLibrary(BitcodeLibrary):
    """LLVM code of a part: it is linked into kernels and optimised there, without machine code."""

    @property
    def codegen(self) -> _NoAddresses:
        """Code generator of the process, without addresses of Python objects."""
        return _NoAddresses(self.process_codegen)


class SharedFlags(Flags):  # type: ignore[misc]  # Numba has no types
    """Compiler options with a cached hash, one shared object for equal options.

    Numba uses the options as a key for each operator of a kernel, too. It hashed and compared all
    of them each time, which took 3 % of the time of a first run.
    """

    def __init__(self, flags: Flags) -> None:
        super().__init__(flags)
        self._hash: int = super().__hash__()

    def __hash__(self) -> int:
        """Return Numba's hash of the options."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Return True if the options are equal."""
        return self is other or bool(super().__eq__(other))

    def copy(self) -> Flags:
        """Return a mutable copy of the options."""
        return Flags(self)


class KernelFlags(Flags):  # type: ignore[misc]  # Numba has no types
    """Compiler options of a kernel, whose copy by Numba is a `SharedFlags`."""

    def copy(self) -> SharedFlags:
        """Return the `SharedFlags` of these options."""
        name = self.summary()
        if name not in _shared_flags:
            _shared_flags[name] = SharedFlags(self)
        return _shared_flags[name]


class KernelCompiler(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler pipeline, with options that are hashed once."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags = KernelFlags(self.state.flags)


class Restrict(KernelCompiler):
    """Compiler for kernels whose array arguments do not overlap (`restrict` in C)."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags.noalias = True


class Linked(KernelCompiler):
    """Compiler for parts, functions that only kernels call: it generates no machine code."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), "part")


class UntouchedLibrary(LinkedLibrary):
    """LLVM code of a part that is not optimised until it is linked into a kernel."""

    def add_llvm_module(self, module: llvm.ModuleRef) -> None:
        """Add LLVM code; run dead code elimination only."""
        builder, passes = _pass_builder(), llvm.create_new_function_pass_manager()
        passes.add_dead_code_elimination_pass()
        for function in module.functions:
            passes.run(function, builder)
        self.link_in(module)


class LinkedCalls(Linked):
    """Compiler like `Linked`, for functions that mainly call others: nothing is optimised early."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.library = UntouchedLibrary(self.state.targetctx.codegen(), "part")


class LinkedRestrict(Linked):
    """Compiler for parts whose array arguments do not overlap."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags.noalias = True


class _Instead:
    """Proxy of a Numba object; subclasses replace some of its methods."""

    def __init__(self, it: BaseContext | Codegen) -> None:
        self._it = it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._it, name)


class _NoAddresses(_Instead):
    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing, but raise `PartWithObjects` if the code uses Python objects."""
        if environment.consts:
            raise PartWithObjects(name)


class _PartContext(_Instead):
    def codegen(self) -> _PartCodegen:
        """Return a code generator whose restored libraries are `LinkedLibrary`."""
        return _PartCodegen(self._it.codegen())


class _PartCodegen(_Instead):
    def unserialize_library(self, data: tuple[str, str, bytes]) -> LinkedLibrary:
        """Restore a `LinkedLibrary` from cached data."""
        return LinkedLibrary.unserialized(self._it, data)
