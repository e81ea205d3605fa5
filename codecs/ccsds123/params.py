"""Parameters of the CCSDS-123 codec: frozen, checked once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.image import MAX_EXTENT as MAX_EXTENT
from gangsaw.codecs.ccsds123.image import Image as Image
from gangsaw.codecs.ccsds123.image import SupplementaryTable as SupplementaryTable
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import built, require_choice, require_int, require_known

LOCAL_SUMS = ("wide_neighbor", "narrow_neighbor", "wide_column", "narrow_column")  # codes 0..3


@dataclass(frozen=True)
class Params:
    """Parameters of a CCSDS-123 encoder; `Image` has the properties of the image itself.

    Parameters
    ----------
    block : tuple of int, default (0, 128, 256)
        Extents (z, y, x) of a block in samples, 0..65536 each; 0 is the whole chunk.
    axes : str, default "zyx"
        Meaning of the array's last axes, in order: a permutation of "zyx".
    bit_depth : int, default 0
        Dynamic range D, 2..32 bits, at most the width of the dtype; 0 is that width.
    prediction_bands : int, default 3
        Number P of preceding bands for prediction, 0..15.
    mode : {"full", "reduced"}, default "reduced"
        Prediction mode.
    local_sum : str, default "wide_neighbor"
        Local sum type: "wide_neighbor", "narrow_neighbor", "wide_column" or "narrow_column".
    register_size : int, default 0
        Register size R, 32..64 bits; 0 is the smallest conforming one, max(32, D + Omega + 2).
    weight_resolution : int, default 13
        Weight resolution Omega, 4..19.
    weight_interval : int, default 64
        Update interval t_inc, a power of two in 16..2048.
    weight_min, weight_max : int, default -1 and 4
        Limits of the weight update exponent: v_min in -6..9, v_max in v_min..9.
    init_weights : tuple of tuple of int, optional
        Custom weights Lambda, one tuple per band; None is the default initialization.
    init_weight_bits : int, default 0
        Width Q of custom weights in bits, 3..Omega + 3; 0 without custom weights.
    init_weights_in_header : bool, default True
        True if the header contains the custom weights.
    order : {"bsq", "bi"}, default "bsq"
        Encoding order.
    interleave_depth : int, default 0
        Interleaving depth M of the order "bi", 0..65536; 0 is all bands (BIP).
    coder : {"sample", "block"}, default "sample"
        Entropy coder: sample-adaptive or block-adaptive.
    word_bytes : int, default 1
        Size B of an output word, 1..8 bytes.
    unary_limit : int, default 18
        Unary length limit U_max, 8..32.
    rescale : int, default 4
        Rescaling counter size gamma*, max(4, gamma_0 + 1)..11.
    initial_count : int, default 1
        Initial count exponent gamma_0, 1..8.
    accumulator_init : int or tuple of int, default 5
        Accumulator constant K, 0..min(D - 2, 14), or one constant k'' per band. A single K is
        lowered to D - 2.
    samples_per_block : int, default 16
        Block size J of the block-adaptive coder: 8, 16, 32 or 64.
    reference_interval : int, default 256
        Reference sample interval r of the block-adaptive coder, 1..4096.
    restricted : bool, default False
        True for the restricted code option set, which needs D <= 4.
    user_data : int, default 0
        User byte of the header, 0..255.
    supplementary : tuple of `SupplementaryTable`, default ()
        At most 15 supplementary information tables.

    Examples
    --------
    >>> from gangsaw.codecs.ccsds123 import Params
    >>> Params(prediction_bands=15).components(20)
    15
    """

    block: tuple[int, int, int] = (0, 128, 256)
    axes: str = "zyx"
    bit_depth: int = 0
    prediction_bands: int = 3
    mode: Literal["full", "reduced"] = "reduced"
    local_sum: str = "wide_neighbor"
    register_size: int = 0
    weight_resolution: int = 13
    weight_interval: int = 64
    weight_min: int = -1
    weight_max: int = 4
    init_weights: tuple[tuple[int, ...], ...] | None = None
    init_weight_bits: int = 0
    init_weights_in_header: bool = True
    order: Literal["bsq", "bi"] = "bsq"
    interleave_depth: int = 0
    coder: Literal["sample", "block"] = "sample"
    word_bytes: int = 1
    unary_limit: int = 18
    rescale: int = 4
    initial_count: int = 1
    accumulator_init: int | tuple[int, ...] = 5
    samples_per_block: int = 16
    reference_interval: int = 256
    restricted: bool = False
    user_data: int = 0
    supplementary: tuple[SupplementaryTable, ...] = ()

    def __post_init__(self) -> None:
        """Check each parameter against its legal range."""
        _check_block(self)
        _check_predictor(self)
        _check_coder(self)

    def image(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Image:
        """Return the `Image` of an array with this shape and dtype.

        Parameters
        ----------
        shape : tuple of int
            Extents (z, y, x).
        dtype : dtype
            Integers of 8, 16 or 32 bits.

        Returns
        -------
        Image
            Its bit depth is `bit_depth`, or the width of the dtype.

        Raises
        ------
        BadParams
            CCSDS-123 cannot represent the array.
        """
        kind = np.dtype(dtype)
        if kind.kind not in "iu" or kind.itemsize > 4:
            raise BadParams(f"samples must be integers of 8, 16 or 32 bits, got {kind}")
        if len(shape) != 3:
            raise BadParams(f"an image has three axes (z, y, x), got shape {shape}")
        width = 8 * kind.itemsize
        if self.bit_depth > width:
            raise BadParams(f"bit_depth {self.bit_depth} exceeds the {width} bits of {kind}")
        return Image(*shape, self.bit_depth or width, kind.kind == "i")

    def resolved(self, image: Image) -> Self:
        """Return params with all values that depend on the image filled in, as in a header.

        R, D, M and the constant K get their value for this image. A single column allows only
        reduced mode and column sums (4.3, 4.4); custom weights then lose the three directional
        ones.

        Parameters
        ----------
        image : Image
            Properties of the image.

        Returns
        -------
        Params
            Params for this image.

        Raises
        ------
        BadParams
            A parameter does not fit the image. R below D + Omega + 2 is accepted: streams of other
            encoders have it, and wrapping is exact in both directions.
        """
        out = replace(
            self,
            bit_depth=image.bit_depth,
            register_size=self.register_size
            or max(32, image.bit_depth + self.weight_resolution + 2),
            interleave_depth=_interleave_depth(self, image),
            accumulator_init=_accumulator_init(self, image),
        )
        if image.n_columns == 1:
            out = _single_column(out)
        _check_image(out, image)
        return out

    @property
    def has_lanes(self) -> bool:
        """True if bands are coded separately: BI order and the block-adaptive coder are serial."""
        return self.order == "bsq" and self.coder == "sample"

    def components(self, z: int) -> int:
        """Return C_z, the length of the weight vector of band z.

        Parameters
        ----------
        z : int
            Number of the band, from 0.

        Returns
        -------
        int
            Number of weights.
        """
        return min(z, self.prediction_bands) + (3 if self.mode == "full" else 0)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration.

        Returns
        -------
        dict
            All fields, default values included.
        """
        out: dict[str, object] = {f.name: getattr(self, f.name) for f in fields(self)}
        out["block"] = list(self.block)
        out["supplementary"] = [table.data.hex() for table in self.supplementary]
        if self.init_weights is not None:
            out["init_weights"] = [list(band) for band in self.init_weights]
        if isinstance(self.accumulator_init, tuple):
            out["accumulator_init"] = list(self.accumulator_init)
        return out

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
        try:
            for name in ("block", "accumulator_init"):
                if isinstance(given := values.get(name), list):
                    values[name] = tuple(given)
            if (bands := values.get("init_weights")) is not None:
                values["init_weights"] = tuple(_items(band) for band in _items(bands))
            tables = _items(values.get("supplementary", ()))
            values["supplementary"] = tuple(
                SupplementaryTable(bytes.fromhex(_text(table))) for table in tables
            )
        except (TypeError, ValueError) as error:
            raise BadParams(f"malformed configuration: {error}") from None
        return built(cls, values)


AnyParams = TypeVar("AnyParams", bound=Params)
Item = TypeVar("Item")


def _interleave_depth(p: Params, image: Image) -> int:
    if p.order == "bsq":
        return 0
    return min(p.interleave_depth or image.n_bands, image.n_bands)


def _accumulator_init(p: Params, image: Image) -> int | tuple[int, ...]:
    """Return K, limited to D - 2: the default of 5 is illegal for images of 2 to 6 bits."""
    constant = p.accumulator_init
    return min(constant, image.bit_depth - 2) if isinstance(constant, int) else constant


def _single_column(p: AnyParams) -> AnyParams:
    weights = p.init_weights
    if weights is not None and p.mode == "full":
        weights = tuple(band[3:] for band in weights)
    sums = p.local_sum.replace("neighbor", "column")
    return replace(p, mode="reduced", local_sum=sums, init_weights=weights)


def _check_image(p: Params, image: Image) -> None:
    """Check tables and limits that depend on the image."""
    depth = image.bit_depth
    if p.coder == "block" and p.restricted and depth > 4:
        raise BadParams(f"restricted codes need a bit depth of at most 4, got {depth}")
    if isinstance(p.accumulator_init, tuple):
        _require_length("accumulator_init", p.accumulator_init, image.n_bands)
        for constant in p.accumulator_init:
            require_int("accumulator_init", constant, 0, min(depth - 2, 14))
    if p.init_weights is not None:
        _require_length("init_weights", p.init_weights, image.n_bands)
        for z, band in enumerate(p.init_weights):
            _require_length(f"init_weights of band {z}", band, p.components(z))


def _items(value: object) -> tuple[object, ...]:
    if not isinstance(value, Iterable):
        raise TypeError(f"{type(value).__name__!r} object is not iterable")
    return tuple(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a table must be hexadecimal text, got {value!r:.60}")
    return value


def _require_length(name: str, table: tuple[object, ...], length: int) -> None:
    if len(table) != length:
        raise BadParams(f"{name} must have {length} entries for this image, got {len(table)}")


def _flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise BadParams(f"{name} must be true or false, got {value!r}")


def _tuple_of(name: str, value: object, kind: type[Item]) -> tuple[Item, ...]:
    if not isinstance(value, tuple) or not all(isinstance(item, kind) for item in value):
        raise BadParams(f"{name} must be a tuple of {kind.__name__}, got {value!r:.60}")
    return value


def _check_block(p: Params) -> None:
    if not isinstance(p.block, tuple) or len(p.block) != 3:
        raise BadParams(f"block must be three extents (z, y, x), got {p.block!r}")
    for axis, extent in zip("zyx", p.block, strict=True):
        require_int(f"block {axis}", extent, 0, MAX_EXTENT)
    if not isinstance(p.axes, str) or sorted(p.axes) != ["x", "y", "z"]:
        raise BadParams(f"axes must be a permutation of 'zyx', got {p.axes!r}")
    if p.bit_depth != 0:
        require_int("bit_depth", p.bit_depth, 2, 32)


def _check_predictor(p: Params) -> None:
    require_int("prediction_bands", p.prediction_bands, 0, 15)
    require_choice("mode", p.mode, ("full", "reduced"))
    require_choice("local_sum", p.local_sum, LOCAL_SUMS)
    if p.register_size != 0:
        require_int("register_size", p.register_size, 32, 64)
    require_int("weight_resolution", p.weight_resolution, 4, 19)
    require_choice("weight_interval", p.weight_interval, tuple(1 << i for i in range(4, 12)))
    require_int("weight_min", p.weight_min, -6, 9)
    require_int("weight_max", p.weight_max, p.weight_min, 9)
    _flag("init_weights_in_header", p.init_weights_in_header)
    if p.init_weights is None:
        require_int("init_weight_bits without init_weights", p.init_weight_bits, 0, 0)
        return
    require_int("init_weight_bits", p.init_weight_bits, 3, p.weight_resolution + 3)
    bound = 1 << (p.init_weight_bits - 1)
    for band in _tuple_of("init_weights", p.init_weights, tuple):
        for weight in band:
            require_int("init_weights", weight, -bound, bound - 1)


def _check_coder(p: Params) -> None:
    require_choice("order", p.order, ("bsq", "bi"))
    require_int("interleave_depth", p.interleave_depth, 0, MAX_EXTENT)
    require_choice("coder", p.coder, ("sample", "block"))
    require_int("word_bytes", p.word_bytes, 1, 8)
    require_int("unary_limit", p.unary_limit, 8, 32)
    require_int("initial_count", p.initial_count, 1, 8)
    require_int("rescale", p.rescale, max(4, p.initial_count + 1), 11)
    table = p.accumulator_init
    for constant in table if isinstance(table, tuple) else (table,):
        require_int("accumulator_init", constant, 0, 14)
    require_choice("samples_per_block", p.samples_per_block, (8, 16, 32, 64))
    require_int("reference_interval", p.reference_interval, 1, 4096)
    require_int("user_data", p.user_data, 0, 255)
    _flag("restricted", p.restricted)
    if len(_tuple_of("supplementary", p.supplementary, SupplementaryTable)) > 15:
        raise BadParams(f"supplementary: at most 15 tables, got {len(p.supplementary)}")
