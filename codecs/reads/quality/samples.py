"""Samples of the kind "quality" for the test suite of all codecs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.sample_lines import any_bytes, join_lines


def samples() -> list[Sample]:
    """Return all samples; they are the same on every machine."""
    rng = np.random.default_rng(5)
    small, pairs = Params("quality", lane=256), Params("quality", pairs=True, block=1024, lane=128)
    equal, open_line = join_lines(_walks(rng, [36] * 50)), join_lines(_walks(rng, [40] * 20))[:-1]
    any_length = join_lines(_walks(rng, [0, 1, 250, 300, 300, 0, 0, 7, 90, 2, 150, 255, 254, 511]))
    return [
        Sample("quality-equal", equal, small),
        Sample("quality-any-length", any_length, small),
        Sample("quality-open", open_line, pairs),
        Sample("quality-long", join_lines(_walks(rng, [1700, 999])), pairs),
        *any_bytes(small),
    ]


def _walks(rng: np.random.Generator, lengths: list[int]) -> Iterator[bytes]:
    """Yield lines of qualities that fall from the best value, in steps that are mostly 0."""
    for length in lengths:
        steps = rng.choice([0, 0, 0, 0, 0, 1, -1, 2], length)
        walk: Text = (73 - np.minimum(40, np.abs(np.cumsum(steps)))).astype(np.uint8)
        yield walk.tobytes()
