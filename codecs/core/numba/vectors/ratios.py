"""Divisions of vectors with floats, whose rounding is the same on all machines."""

from __future__ import annotations

from llvmlite import ir

from gangsaw.codecs.core.numba.jit import intrinsic
from gangsaw.codecs.core.numba.lowering import (
    Args,
    Builder,
    Context,
    Lowering,
    Signature,
    TypingContext,
    Value,
)
from gangsaw.codecs.core.numba.vectors.integers import Vector

TOTAL = 16383.0  # one less than 2^14: floats of 32 bits give the floor for every z
UNIT_BITS = 8  # fractional bits of z
MANTISSA, BIAS = 23, 127  # of floats of 32 bits


@intrinsic
def squash(typing_context: TypingContext, z: Vector) -> Lowering:
    """Return the logistic function floor(16383 / (1 + 2^(-z / 256))) of 32-bit lanes, |z| < 3,072.

    The power is linear between those of whole numbers. Float divisions round the same everywhere,
    and none of these rounds up to a whole number: a test tries every z.
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        floats = ir.VectorType(ir.FloatType(), z.lanes)

        def same(value: int) -> Value:
            return ir.Constant(args[0].type, [value] * z.lanes)

        bits = builder.shl(args[0], same(MANTISSA - UNIT_BITS))
        power = builder.bitcast(builder.sub(same(BIAS << MANTISSA), bits), floats)
        below = builder.fadd(power, ir.Constant(floats, [1.0] * z.lanes))
        of_one = builder.fdiv(ir.Constant(floats, [TOTAL] * z.lanes), below)
        return builder.fptosi(of_one, args[0].type)

    return z(z), codegen


@intrinsic
def small_quotients(typing_context: TypingContext, left: Vector, right: Vector) -> Lowering:
    """Return left / right of 32-bit lanes, rounded down, for right <= 2^14 and results below 2^31.

    Both are unsigned. It is like `quotients`, but uses conversions of signed numbers, as AVX2 has
    no others.
    """

    def codegen(context: Context, builder: Builder, sig: Signature, args: Args) -> Value:
        doubles = ir.VectorType(ir.DoubleType(), left.lanes)
        half = ir.Constant(args[0].type, [1 << 31] * left.lanes)
        dividend = builder.sitofp(builder.xor(args[0], half), doubles)
        dividend = builder.fadd(dividend, ir.Constant(doubles, [float(1 << 31)] * left.lanes))
        quotient = builder.fdiv(dividend, builder.sitofp(args[1], doubles))
        return builder.fptosi(quotient, args[0].type)

    return left(left, right), codegen
