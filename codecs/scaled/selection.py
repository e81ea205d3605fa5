"""Codec selection for floats that are scaled integers in a sample: capabilities of the codec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins.selection import (
    ArrayFacts,
    Capabilities,
    Extents,
    Grade,
    Picture,
    Refusal,
)
from gangsaw.codecs.scaled import INNER, INTEGERS

if TYPE_CHECKING:
    from gangsaw.codecs.core.arrays import NumpyArray

GAIN = 0.9  # required size ratio to the general codec for a sample
FLOAT_BYTES = (4, 8)
MOST_LEVELS = 1 << 15  # levels of integers that only show on which axis floats are smooth


class _Capabilities(Capabilities):
    def refusal(self, array: ArrayFacts) -> Refusal | None:
        if array.dtype.kind != "f" or array.dtype.itemsize not in FLOAT_BYTES:
            return Refusal(f"holds {array.dtype.name} samples", "codes float32 and float64")
        return codec_table.capabilities_of(INNER).refusal(_of_integers(array))

    def grade(self, array: ArrayFacts) -> Grade:
        found = _proposed(array)
        if found is None or array.sample is None or array.general_bytes is None:
            return Grade.ON_REQUEST
        from gangsaw.codecs.scaled.codec import Scaled

        sample = array.sample()
        part = replace(array, shape=sample.shape)
        codec = Scaled(**vars(Scaled.params_type.from_dict(self.parameters(part, sample.shape))))
        n_bytes = len(codec.encode_chunk(sample))
        return Grade.PROVEN if n_bytes <= GAIN * array.general_bytes() else Grade.ON_REQUEST

    def is_aside(self, array: ArrayFacts) -> bool:
        return self.refusal(array) is not None

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        return codec_table.capabilities_of(INNER).least_chunks(_of_integers(array))

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, object]:
        own = codec_table.capabilities_of(INNER).parameters(_of_integers(array), chunks)
        inner = {"name": INNER, "configuration": own}
        return {"inner": inner, **(_proposed(array) or {})}

    def registered(
        self, array: ArrayFacts, params: Mapping[str, object]
    ) -> Sequence[Mapping[str, object]] | None:
        """Return equivalent codecs, Zarr's `scale_offset` and `cast_value` first; None if none are.

        Only quotients in the array's precision have equivalents.
        """
        if params["form"] != "quotient" or params["precision"] != "array":
            return None
        scale = {"scale": params["scale"], "offset": params["offset"]}
        kind = {"data_type": params["integers"], "scalar_map": _scalar_map(array, params)}
        return (
            {"name": "scale_offset", "configuration": scale},
            {"name": "cast_value", "configuration": kind},
            cast("Mapping[str, object]", params["inner"]),
        )

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        name, own = _name_and_params(params["inner"])
        usual_name, of_usual = _name_and_params(usual["inner"])
        inner = codec_table.capabilities().get(name, Capabilities())
        shown = inner.summary(own, of_usual if name == usual_name else {})
        return {"samples": formula(params), "inner": name, **shown}

    def picture(self, params: Mapping[str, object], dims: tuple[str, ...]) -> Picture:
        name, own = _name_and_params(params["inner"])
        return codec_table.capabilities().get(name, Capabilities()).picture(own, dims)


CAPABILITIES = _Capabilities()


def formula(params: Mapping[str, object]) -> str:
    """Return the formula of samples from integers, as text: "int16 / 10000 + 0.5"."""
    sign = "*" if params["form"] == "product" else "/"
    offset = cast("float", params["offset"])
    behind = f" {'-' if offset < 0 else '+'} {abs(offset):.10g}" if offset else ""
    rounded = " in float64" if params["precision"] == "double" else ""
    return f"{params['integers']} {sign} {params['scale']:.10g}{behind}{rounded}"


def _scalar_map(array: ArrayFacts, params: Mapping[str, object]) -> Mapping[str, object]:
    """Return the `scalar_map` of `cast_value`: integers for NaN and for a fill value without one.

    These integers are at the end of the range of integers: if samples have these values, the check
    fails.
    """
    import numpy as np

    name = str(params["integers"])
    info = np.iinfo(name)
    free = (
        [int(info.max), int(info.max) - 1] if info.min == 0 else [int(info.min), int(info.min) + 1]
    )
    pairs: list[tuple[object, int]] = [("NaN", free[0])]
    fill = array.fill_value
    if isinstance(fill, int | float | np.integer | np.floating) and np.isfinite(fill):
        constants = np.array([fill, params["offset"], params["scale"]], np.float64)
        one, offset, scale = constants.astype(array.dtype.newbyteorder("="))
        with np.errstate(all="ignore"):
            number = float((one - offset) * scale)
        if np.isfinite(number) and not info.min <= number <= info.max:
            pairs.append((number, free[1]))
    return {"encode": pairs, "decode": [(number, value) for value, number in pairs]}


def _proposed(array: ArrayFacts) -> Mapping[str, object] | None:
    """Return the parameters that a sample suggests; None if it suggests none, or without sample."""
    if array.cube is None or array.dtype.kind != "f":
        return None
    from gangsaw.codecs.scaled.propose import propose

    return propose(array.cube())


def _of_integers(array: ArrayFacts) -> ArrayFacts:
    """Return the facts about an array for the inner codec: as if it had integers."""
    import numpy as np

    cube = array.cube
    dtype = np.dtype(INTEGERS[-1])
    integers = None if cube is None else lambda: _as_integers(cube())
    return replace(
        array, dtype=dtype, cube=integers, sample=None, extremes=None, general_bytes=None
    )


def _as_integers(floats: NumpyArray) -> NumpyArray:
    """Return integers in the order of the floats of a sample.

    The inner codec detects with them on which axis the floats are smooth.
    """
    import numpy as np

    finite = np.nan_to_num(floats.astype(np.float64), posinf=0, neginf=0)
    low, high = float(finite.min()), float(finite.max())
    step = (high - low) / MOST_LEVELS or 1.0
    found: NumpyArray = ((finite - low) / step).astype(INTEGERS[-1])
    return found


def _name_and_params(codec: object) -> tuple[str, Mapping[str, object]]:
    """Return name and parameters of a codec given as JSON."""
    config = cast("Mapping[str, object]", codec)
    return str(config["name"]), cast("Mapping[str, object]", config["configuration"])
