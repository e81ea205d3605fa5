"""What samples of all kinds are made of: lines to bytes, and cases that any kind has to take."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gangsaw.codecs.core.samples import Sample
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.params import Params


def joined(lines: Iterable[bytes]) -> Text:
    """Return lines as a block holds them."""
    return np.frombuffer(b"".join(line + b"\n" for line in lines), np.uint8)


def any_bytes(params: Params) -> list[Sample]:
    """Return what every kind of text has to take; the names begin with the kind."""
    rng = np.random.default_rng(11)
    cases = {
        "noise": rng.integers(0, 256, 700, np.uint8),
        "newlines": joined([b""] * 300),
        "one-byte": np.frombuffer(b"A", np.uint8),
        "zeros": np.zeros(200, np.uint8),
        "filled": np.concatenate((joined([b"ACGT"] * 9), np.zeros(90, np.uint8))),
    }
    return [Sample(f"{params.kind}-{name}", array, params) for name, array in cases.items()]
