"""Codecs' samples for kernels that no sample of the suite asks for, so that each runs once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from helpers.every_codec import Case

from gangsaw.codecs.ccsds123 import samples as cubes
from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.codecs.ccsds123.params import Params as CubeParams
from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.visibility import samples as visibilities
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.codecs.visibility.params import Params as VisibilityParams

BITS = 20  # of 32-bit samples: the coder takes no more than lanes have room for
CUBES: tuple[tuple[str, int, dict[str, Any]], ...] = (  # dtype, bit depth (0: all), parameters
    ("i2", 0, {"mode": "full", "local_sum": "narrow_neighbor"}),
    ("u1", 0, {"prediction_bands": 0, "local_sum": "wide_column"}),
    ("u2", 0, {"prediction_bands": 15, "mode": "full", "local_sum": "narrow_column"}),
    ("u4", BITS, {"bit_depth": BITS, "local_sum": "narrow_neighbor", "register_size": 64}),
    ("i4", BITS, {"bit_depth": BITS, "prediction_bands": 15, "mode": "full", "register_size": 64}),
)


def variants() -> Iterator[Case]:
    """Yield them, named for what they specialise."""
    for dtype, bits, parameters in CUBES:
        name = " ".join([dtype, *(str(value) for value in parameters.values())])
        array = cubes.scene((17, 9, 10), dtype, bits)
        yield Case(Ccsds123, Sample(name, array, CubeParams(**parameters)))
    half = visibilities.fringes((40, 3, 20), "f2")
    yield Case(Visibility, Sample("half fast", half, VisibilityParams(effort="fast")))
