"""Parameters of the visibility codec: frozen, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import built, require_choice, require_int, require_known

EFFORTS = ("fast", "dense")
PREDICTORS = (  # their codes in a block are the indices here
    "none",
    "time",
    "frequency",
    "parallelogram",
    "lorenzo",
    "lagrange1",
    "lagrange2",
    "lagrange3",
    "mean",
    "median",
)
RESIDUALS = ("xor", "difference")
PACKINGS = ("bits", "bytes")
AUTO = "auto"

MAX_EXTENT = (1 << 31) - 1
MAX_WINDOW = 255  # one byte of a block


class BlockSizes(NamedTuple):
    """Default extents of blocks, for zeros in `block`.

    Attributes
    ----------
    components : most floats of a block
    times : most time steps, more if the other axes are short; a read often needs few of them
    rest : numbers at one time and frequency to prefer over more frequencies, in whole strips if
        possible; with fewer, blocks share more cache lines
    """

    components: int
    times: int
    rest: int


# Components: 512 KiB of float32. `fast` does little but move memory: its 128 numbers of rest make
# pieces of 1024 bytes, sixteen whole cache lines; the 8 of `dense` would make pieces of one line.
BLOCK_SIZES = {"fast": BlockSizes(1 << 17, 32, 128), "dense": BlockSizes(1 << 17, 256, 8)}
CONSTRUCTION_SIZES = BlockSizes(1 << 16, 256, 8)
LANES = 32  # lanes of a strip, as threads of a warp
COMPONENTS = {"f": 1, "c": 2}  # floats of one number, by dtype kind


@dataclass(frozen=True)
class Params:
    """Parameters of the visibility encoder; SPEC.md defines their effect on the bytes.

    Parameters
    ----------
    effort : {"dense", "fast"}, default "dense"
        Coding of blocks without a construction: "dense" is smaller, "fast" takes less time.
    axes : str, default "auto"
        One letter per axis of the array: "t" time, "f" frequency, "b" any other; at most one "t"
        and one "f". "auto" is time, frequency, then others.
    block : tuple of int, default (0, 0, 0)
        Extents (time, frequency, rest) of a block in numbers, 0..2^31 - 1 each. The rest is the
        product of all "b" axes. 0 is chosen from the chunk's shape.
    predictor : str, default "auto"
        "none", "time", "frequency", "parallelogram", "lorenzo", "lagrange1", "lagrange2",
        "lagrange3", "mean" or "median" of a construction; "auto" leaves it to the effort.
        Predictor, residual and packing are given all three or none.
    window : int, default 4
        Number of past steps for the predictors "mean" and "median", 1..255.
    residual : {"auto", "xor", "difference"}, default "auto"
        Residual of a construction.
    packing : {"auto", "bits", "bytes"}, default "auto"
        Packing of a construction's residuals, by leading zero bits or bytes.

    Examples
    --------
    >>> from gangsaw.codecs.visibility import Params
    >>> Params(effort="fast").axis_names(4)
    'tfbb'
    """

    effort: Literal["fast", "dense"] = "dense"
    axes: str = AUTO
    block: tuple[int, int, int] = (0, 0, 0)
    predictor: str = AUTO
    window: int = 4
    residual: str = AUTO
    packing: str = AUTO

    def __post_init__(self) -> None:
        """Check each parameter against its legal values."""
        require_choice("effort", self.effort, EFFORTS)
        _check_axes(self.axes)
        _check_block(self.block)
        require_int("window", self.window, 1, MAX_WINDOW)
        require_choice("predictor", self.predictor, (AUTO, *PREDICTORS))
        require_choice("residual", self.residual, (AUTO, *RESIDUALS))
        require_choice("packing", self.packing, (AUTO, *PACKINGS))
        named = [name for name in _CONSTRUCTION if getattr(self, name) != AUTO]
        if named and len(named) < len(_CONSTRUCTION):
            missing = next(name for name in _CONSTRUCTION if name not in named)
            raise BadParams(
                f"{named[0]} is given but {missing} is 'auto': a construction needs predictor, "
                "residual and packing; give all three, or none and an effort"
            )

    @property
    def is_construction(self) -> bool:
        """True if the paper's construction is named, so that the effort has no effect."""
        return self.predictor != AUTO

    @property
    def coding(self) -> str:
        """Coding of blocks: "construction", else the effort."""
        return "construction" if self.is_construction else self.effort

    def axis_names(self, rank: int) -> str:
        """Return one letter per axis of an array.

        Parameters
        ----------
        rank : int
            Number of axes.

        Returns
        -------
        str
            "t", "f" or "b" for each axis.

        Raises
        ------
        BadParams
            The params name the axes of another rank.
        """
        if self.axes == AUTO:
            return ("tf" + "b" * rank)[:rank]
        if len(self.axes) != rank:
            raise BadParams(
                f"axes {self.axes!r} names {len(self.axes)} axes, the array has {rank}; "
                "give one letter for each"
            )
        return self.axes

    def block_shape(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> tuple[int, ...]:
        """Return the extents of a block along each axis of a chunk (SPEC.md, Blocks).

        Parameters
        ----------
        shape : tuple of int
            Extents of the chunk.
        dtype : dtype
            Float or complex dtype.

        Returns
        -------
        tuple of int
            Extents of a block.

        Raises
        ------
        BadParams
            The dtype is no IEEE 754 float, or the params name the axes of another rank.
        """
        axes = self.axis_names(len(shape))
        sizes = dict(zip(axes, shape, strict=True))
        rest = [n for axis, n in zip(axes, shape, strict=True) if axis == "b"]
        chosen_sizes = CONSTRUCTION_SIZES if self.is_construction else BLOCK_SIZES[self.effort]
        components = component_count(dtype)
        most_words = chosen_sizes.components // components
        others_in_all = max(1, sizes.get("f", 1) * math.prod(rest))
        most_times = max(chosen_sizes.times, most_words // others_in_all)
        times = _extent(self.block[0], sizes.get("t", 1), most_times)
        rest_extent = min(max(1, math.prod(rest)), self.block[2] or chosen_sizes.rest)
        if rest_extent > 2 * LANES and not self.block[2]:
            rest_extent -= rest_extent % LANES
        frequencies = _extent(self.block[1], sizes.get("f", 1), most_words // (times * rest_extent))
        most = most_words // (times * frequencies)
        others = iter(_rest_extents(self.block[2], rest, most, components))
        chosen = {"t": times, "f": frequencies}
        return tuple(chosen[axis] if axis in chosen else next(others) for axis in axes)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration.

        Returns
        -------
        dict
            All fields; defaults may be omitted when read.
        """
        out: dict[str, object] = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**out, "block": list(self.block)}

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> Self:
        """Read a JSON configuration.

        Parameters
        ----------
        data : dict
            Fields; missing ones have their defaults.

        Returns
        -------
        Params
            The parameters.

        Raises
        ------
        BadParams
            A name is unknown, or a value has a wrong type or is outside its range.
        """
        require_known(data, [f.name for f in fields(cls)])
        values = dict(data)
        if isinstance(block := values.get("block"), list):
            values["block"] = tuple(block)
        return built(cls, values)


_CONSTRUCTION = ("predictor", "residual", "packing")


def component_count(dtype: npt.DTypeLike) -> int:
    """Return 2 for complex, 1 for real dtypes; raise BadParams if it is no IEEE 754 float."""
    kind = np.dtype(dtype)
    count = COMPONENTS.get(kind.kind, 0)
    if not count or kind.itemsize // count not in (2, 4, 8):
        raise BadParams(
            f"gangsaw.visibility codes float16, 32 and 64 and complex64 and 128, got {kind}; "
            "store other arrays with another codec"
        )
    return count


def _extent(wanted: int, n: int, most: int) -> int:
    """Return `wanted`; if 0, the extent of the fewest equal pieces of n, at most `most`."""
    if wanted:
        return max(1, min(wanted, n))
    pieces = -(-n // max(1, most))
    return -(-n // pieces) if n else 1


def _rest_extents(wanted: int, extents: list[int], most: int, components: int) -> list[int]:
    """Split the "b" axes: the last one first, an earlier one only if all later ones are whole."""
    left = wanted or max(1, most)
    out = []
    for n in reversed(extents):
        extent = _extent(min(wanted, left), n, left)
        if not wanted and left < n:
            extent = _piece_of_rest(n, left, components)
        out.append(extent)
        left = left // n if 0 < n <= left else 1
    return out[::-1]


def _piece_of_rest(n: int, most: int, components: int) -> int:
    """Return the extent of pieces of n that leave few lanes without words."""
    if most >= LANES:
        return -(-_extent(0, n, most // LANES * LANES) // LANES) * LANES
    even = _extent(0, n, most)
    series = even * components
    series *= max(1, LANES // series)  # several pieces of an axis in adjacent lanes
    is_full = 4 * series >= 3 * LANES * -(-series // LANES)
    return even if is_full else 1 << most.bit_length() - 1


def _check_axes(axes: object) -> None:
    if axes == AUTO:
        return
    if not isinstance(axes, str) or not axes or set(axes) - set("tfb"):
        raise BadParams(
            f"axes must be 'auto' or one letter per axis, t (time), f (frequency) or b (any "
            f"other), got {axes!r}"
        )
    for axis in "tf":
        if axes.count(axis) > 1:
            raise BadParams(f"axes {axes!r} names {axis} twice; call all but one of them b")


def _check_block(block: object) -> None:
    if not isinstance(block, tuple) or len(block) != 3:
        raise BadParams(f"block must be three extents (time, frequency, rest), got {block!r}")
    for name, extent in zip(("time", "frequency", "rest"), block, strict=True):
        require_int(f"block {name}", extent, 0, MAX_EXTENT)
