"""Capabilities of the CCSDS-123 codec: it codes images of integers with any number of bands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsInt

from gangsaw.codecs.core.axes import image_axes
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.selection import (
    ArrayFacts,
    Capabilities,
    Extents,
    Extremes,
    Grade,
    Option,
    Picture,
    Refusal,
)

TILE = {"y": 128, "x": 256}  # samples of a block in each spatial axis; a block has all bands
CHUNK_TILE = {"z": 1024, **TILE}  # samples: lower limit of default chunks
MAX_BANDS = 1 << 16  # of a block: a 16-bit field of its header
MAX_BITS = 32  # of a coded sample; integers of 64 bits are narrowed
FIRST = ("block", "axes", "bit_depth", "prediction_bands", "mode", "local_sum")


def read_depth(text: str) -> int | str:
    """Return the bit depth in a text, or "auto"; raise BadParams for any other text."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise BadParams(f"--bit-depth must be auto or a number of bits, got {text!r}") from None


class _Capabilities(Capabilities):
    options = (
        Option(
            "bit_depth",
            "Bits per sample, or auto to scan.",
            "the dtype's",
            read_depth,
            scans=("auto",),
            placeholder="N|auto",
        ),
    )

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        if array.dtype.kind not in "iu":
            takes = "codes integers: scale them to integers first, or use --codec zstd"
            return Refusal(f"holds {array.dtype.name} samples", takes)
        if len(array.shape) < 2:
            return Refusal(f"has {len(array.shape)} axes", "codes two axes or more")
        return None

    def grade(self, array: ArrayFacts) -> Grade:
        return Grade.ON_REQUEST if _is_narrowed(array) else Grade.GENERAL

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        """Return least chunk extents by axis if only a sample shows the axis of bands.

        None leaves them to the rule for arrays of any kind.
        """
        from gangsaw.codecs.ccsds123.spectral import spectral_axes

        axes = spectral_axes(array)
        if len(array.shape) != 3 or axes == image_axes(array.dims):
            return None
        return {at: CHUNK_TILE[axis] for at, axis in enumerate(axes)}

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, object]:
        from gangsaw.codecs.ccsds123.spectral import spectral_axes

        axes = spectral_axes(array)
        found: dict[str, object] = {"axes": axes, "block": list(default_block(chunks, axes))}
        if _is_narrowed(array):
            _check_fill_value(array, chunks)
            found["bit_depth"] = MAX_BITS
        return found

    def settled(self, array: ArrayFacts, options: Mapping[str, object]) -> Mapping[str, object]:
        wanted = options.get("bit_depth")
        if wanted is None:
            return {}
        if not isinstance(wanted, SupportsInt | str):
            raise BadParams(f"bit depth must be auto or a number of bits, got {wanted!r}")
        return {"bit_depth": bit_depth(array, wanted)}

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        return {k: v for k, v in params.items() if k in FIRST or usual.get(k) != v}

    def picture(self, params: Mapping[str, object], dims: tuple[str, ...]) -> Picture:
        """Return the picture of an image: blocks over rows and columns, and the axis of bands."""
        axes, rank = str(params["axes"]), len(dims)
        if rank < 3:
            return Picture((rank - 2, rank - 1), kind="scene")
        at = {axis: rank - len(axes) + i for i, axis in enumerate(axes)}
        return Picture((at["y"], at["x"]), at["z"], kind="scene")


CAPABILITIES = _Capabilities()


def default_block(chunks: Extents, axes: str) -> tuple[int, int, int]:
    """Return the block (z, y, x) that divides a chunk into equal tiles of about TILE; 0 is all.

    Small tiles at the end cost most: 145 samples cut by 128 leave 17, so they are one block of 145.
    All bands are in one block, or in equal pieces of at most MAX_BANDS.
    """
    own = axes[-len(chunks) :]
    extent = dict(zip(own, chunks[-len(own) :], strict=True))
    bands = extent.get("z", 1)
    depth = 0 if bands <= MAX_BANDS else -(-bands // -(-bands // MAX_BANDS))
    return depth, _tile(extent.get("y", 1), TILE["y"]), _tile(extent["x"], TILE["x"])


def _tile(extent: int, tile: int) -> int:
    return tile if extent <= tile else -(-extent // round(extent / tile))


def bit_depth(array: ArrayFacts, wanted: SupportsInt | str) -> int:
    """Return D in bits: `wanted`, or for "auto" the smallest D that represents all samples.

    Raises BadParams, with value and position, if a sample needs more than `wanted` bits.
    """
    signed, width = array.dtype.kind == "i", min(8 * array.dtype.itemsize, MAX_BITS)
    if wanted == "auto":
        found = _extremes(array)
        if _is_narrowed(array):
            _check_fits(array, MAX_BITS, found, signed)
        return needed_bits(found, signed=signed)
    depth = int(wanted)
    if not 2 <= depth <= width:
        name = array.dtype.name
        raise BadParams(f"bit depth of {name} samples must be in 2..{width}, got {depth}")
    if depth < width:
        _check_fits(array, depth, _extremes(array), signed)
    return depth


def needed_bits(found: Extremes, *, signed: bool) -> int:
    """Return the smallest D of 2 or more bits that represents both extremes."""
    if signed:  # two's complement: -2**(D-1) .. 2**(D-1) - 1
        return max(2, found.high.bit_length() + 1, (~min(found.low, -1)).bit_length() + 1)
    return max(2, found.high.bit_length())


def _extremes(array: ArrayFacts) -> Extremes:
    if array.extremes is None:
        return Extremes(0, (), 0, ())  # no sample needs a bit
    return array.extremes()


def _check_fits(array: ArrayFacts, depth: int, found: Extremes, signed: bool) -> None:
    need = needed_bits(found, signed=signed)
    if need <= depth:
        return
    high_needs = needed_bits(Extremes(0, (), max(found.high, 0), ()), signed=signed)
    value, at = (found.high, found.high_at) if high_needs == need else (found.low, found.low_at)
    where = ", ".join(f"{dim} {i}" for dim, i in zip(array.dims, at, strict=True))
    sample = f"sample {value} at {where} of {array.name} needs {need} bits"
    if need > MAX_BITS:
        raise BadParams(f"{sample}, gangsaw.ccsds123 codes {MAX_BITS}: use --codec auto")
    raise BadParams(f"{sample}, --bit-depth is {depth}: use --bit-depth {need} or auto")


def _is_narrowed(array: ArrayFacts) -> bool:
    """Return True for integers of 64 bits; they are checked and narrowed chunk by chunk."""
    return array.dtype.itemsize > MAX_BITS // 8


def _check_fill_value(array: ArrayFacts, chunks: Extents) -> None:
    """Raise BadParams if chunks need padding with a fill value that does not fit in MAX_BITS."""
    if not isinstance(array.fill_value, SupportsInt):
        return
    try:
        value = int(array.fill_value)
    except (ValueError, OverflowError):  # NaN or infinity: stores of integers have zero instead
        return
    need = needed_bits(Extremes(value, (), value, ()), signed=array.dtype.kind == "i")
    if need > MAX_BITS and any(n % c for n, c in zip(array.shape, chunks, strict=True)):
        raise BadParams(
            f"the chunks at the end of {array.name} are padded with its fill value {value}, which "
            f"needs more than {MAX_BITS} bits: use chunks that divide its shape, or --codec auto"
        )
