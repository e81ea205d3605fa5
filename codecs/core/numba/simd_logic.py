"""More of simd.py's vectors: logical shifts, masks joined, widths changed with the sign."""

from __future__ import annotations

from typing import Any

from numba import types

from gangsaw.codecs.core.numba.jit import intrinsic
from gangsaw.codecs.core.numba.simd import splat


@intrinsic
def logical_shift_right(typing_context: Any, vector: Any, count: Any) -> Any:
    """Shift zeros in from the left, by one count or one per lane, less than the width."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.lshr(args[0], splat(builder, vector, args[1], sig.args[1]))

    return vector(vector, types.unliteral(count)), codegen


def _joined(method: str) -> Any:
    @intrinsic
    def joined(typing_context: Any, left: Any, right: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return getattr(builder, method)(*args)

        return left(left, right), codegen

    return joined


both = _joined("and_")
either = _joined("or_")
