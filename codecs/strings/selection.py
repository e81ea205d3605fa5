"""Codec selection for strings that get shorter than with Zstandard: capabilities of the codec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins.selection import ArrayFacts, Capabilities, Grade, Refusal
from gangsaw.codecs.strings.params import INNER

LEAST = 1000  # bytes of a sample
GAIN = 0.95  # required size ratio to the general codec for a sample


class _Capabilities(Capabilities):
    def refusal(self, array: ArrayFacts) -> Refusal | None:
        if array.dtype.kind != "T":
            return Refusal(f"holds {array.dtype.name} items", "codes strings of any length")
        return None

    def grade(self, array: ArrayFacts) -> Grade:
        if array.sample is None or array.general_bytes is None:
            return Grade.ON_REQUEST
        sample = array.sample()
        if len(sample) < LEAST:
            return Grade.ON_REQUEST
        import numpy as np

        from gangsaw.codecs.strings.codec import Strings

        n_bytes = len(Strings(inner=INNER).encode_bytes(sample.view(np.uint8)))
        return Grade.PROVEN if n_bytes <= GAIN * array.general_bytes() else Grade.ON_REQUEST

    def is_aside(self, array: ArrayFacts) -> bool:
        return array.dtype.kind != "T"

    def inner(self, array: ArrayFacts) -> str | None:
        return INNER

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        return dict.fromkeys(range(len(array.shape)), 1)

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        name, own = _inner_params(params)
        usual_name, of_usual = _inner_params(usual)
        inner = codec_table.capabilities().get(name, Capabilities())
        return {"inner": name, **inner.summary(own, of_usual if name == usual_name else {})}


CAPABILITIES = _Capabilities()


def _inner_params(params: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    """Return Zarr name and JSON parameters of the inner codec."""
    inner = cast("Mapping[str, object]", params["inner"])
    return str(inner["name"]), cast("Mapping[str, object]", inner["configuration"])
