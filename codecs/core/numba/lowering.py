"""Types of Numba and LLVM that intrinsics get and return, by short names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from llvmlite.ir import IRBuilder as Builder
from llvmlite.ir import Type as LlvmType
from llvmlite.ir import Value
from numba.core.base import BaseContext as Context
from numba.core.types import Type
from numba.core.typing.context import BaseContext as TypingContext
from numba.core.typing.templates import Signature

__all__ = [
    "Args",
    "Builder",
    "Codegen",
    "Context",
    "LlvmType",
    "Lowering",
    "Signature",
    "Type",
    "TypingContext",
    "Value",
]

Args: TypeAlias = tuple[Value, ...]  # values of the arguments of a call
Codegen: TypeAlias = Callable[[Context, Builder, Signature, Args], Value]  # emits the LLVM code
Lowering: TypeAlias = tuple[Signature, Codegen]  # result of an intrinsic
