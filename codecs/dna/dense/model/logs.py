"""Logarithms and powers of two as integers, computed with integers only: equal on every machine.

SPEC.md, Dense, "Logarithms".
"""

from __future__ import annotations

from math import isqrt

import numpy as np

UNIT = 256  # steps per factor of two
LOG_BITS = 12  # bits of a probability that is looked up
POWERS = 3072
TOP = 65535  # 2^0
_GUARD = 64  # fraction bits of the roots of two


def log2(a: int, b: int = 1) -> int:
    """Return the integer nearest to 256 log2(a / b), for a >= 1 and b >= 1."""
    top, bottom = int(a ** (2 * UNIT)), int(b ** (2 * UNIT))
    twice = top.bit_length() - bottom.bit_length()
    if (bottom << twice if twice > 0 else bottom) > (top << -twice if twice < 0 else top):
        twice -= 1
    return (twice + 1) // 2


def _logs() -> list[int]:
    """Build the table LOG of SPEC.md: 256 log2(4 p), rounded, for p = i / 4096.

    For i = 0, p is 1 / 8192.
    """
    quarter = 1 << LOG_BITS - 2
    return [log2(1, 2 * quarter), *(log2(i, quarter) for i in range(1, 1 << LOG_BITS))]


def _powers() -> list[int]:
    """Build the table POWER of SPEC.md: 65535 * 2^(-i / 256), rounded."""
    roots = [1 << _GUARD]
    for j in range(1, UNIT):
        root = 1 << UNIT * _GUARD - j
        for _ in range(8):  # UNIT is 2^8
            root = isqrt(root)
        roots.append(root)
    scaled = (TOP * roots[i % UNIT] >> _GUARD + i // UNIT - 1 for i in range(POWERS))
    return [(twice + 1) // 2 for twice in scaled]


LOGS = np.array(_logs(), np.int16)
POWER = np.array(_powers(), np.uint16)
