"""Parameters of the codec of scaled integers: frozen, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Literal, Self, cast

import numpy as np

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import built, require_choice, require_known
from gangsaw.codecs.scaled import FLOATS, FORMS, INNER, INTEGERS, PRECISIONS

if TYPE_CHECKING:
    from gangsaw.codecs.core.zarr.block_codec import BlockCodec

FIELDS = ("inner", "floats", "scale", "offset", "form", "precision", "integers")


@dataclass(frozen=True, init=False)
class Params:
    """Parameters of the encoder; SPEC.md defines their effect on the bytes.

    Attributes
    ----------
    inner : codec of the integers; given as a codec, by its name, or as JSON
    floats : codec of blocks that are not scaled integers, given likewise
    scale, offset : a sample is k / scale + offset in form "quotient", k * scale + offset in
        "product"
    form : "quotient" or "product"
    precision : dtype of this computation: "array" for the array's own, or "double", then rounded
    integers : dtype of k
    """

    inner: BlockCodec
    floats: BlockCodec
    scale: float
    offset: float
    form: Literal["quotient", "product"]
    precision: Literal["array", "double"]
    integers: str

    def __init__(
        self,
        inner: BlockCodec | str | Mapping[str, object] = INNER,
        floats: BlockCodec | str | Mapping[str, object] = FLOATS,
        scale: float = 10000.0,
        offset: float = 0.0,
        form: Literal["quotient", "product"] = "quotient",
        precision: Literal["array", "double"] = "array",
        integers: str = "int16",
    ) -> None:
        require_choice("form", form, FORMS)
        require_choice("precision", precision, PRECISIONS)
        require_choice("integers", integers, INTEGERS)
        scale, offset = _finite("scale", scale), _finite("offset", offset)
        if scale <= 0:
            raise BadParams(f"scale must be above 0, got {scale!r}")
        of_integers = codec_table.coding("inner", inner)
        of_integers.coder((1, 1, 1), integers)
        of_floats = codec_table.coding("floats", floats)
        values = of_integers, of_floats, scale, offset, form, precision, integers
        for name, value in zip(FIELDS, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def is_product(self) -> bool:
        """True if integers are multiplied by the scale."""
        return self.form == "product"

    @property
    def dtype(self) -> Dtype:
        """Dtype of the integers, in native byte order."""
        return np.dtype(self.integers)

    def constants(self, dtype: Dtype) -> NumpyArray:
        """Return scale and offset, (2,), in the dtype of the computation for samples of `dtype`.

        Raises
        ------
        BadParams : scale or offset is not finite in that dtype, or the scale not above 0
        """
        kind = np.dtype("f8") if self.precision == "double" else dtype.newbyteorder("=")
        with np.errstate(over="ignore", under="ignore"):
            found: NumpyArray = np.array([self.scale, self.offset], "f8").astype(kind)
        if not np.isfinite(found).all() or not found[0] > 0:
            raise BadParams(f"{kind} holds no scale {self.scale!r} or offset {self.offset!r}")
        return found

    def to_dict(self) -> dict[str, object]:
        """Return the JSON configuration."""
        plain: dict[str, object] = {name: getattr(self, name) for name in FIELDS}
        return {**plain, "inner": self.inner.to_dict(), "floats": self.floats.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read a JSON configuration; raise BadParams for unknown names or wrong types."""
        require_known(data, FIELDS)
        return built(cls, data)


def _finite(name: str, value: object) -> float:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not isfinite(cast("float", value)):
        raise BadParams(f"{name} must be a finite number, got {value!r}")
    return float(cast("float", value)) or 0.0  # no -0.0
