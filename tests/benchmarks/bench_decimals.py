"""Floats with few digits, bits or values: ratios and speeds of one core beside the peers.

The axes are those that `compress` gives the codec.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from decimals_data import Floats, arrays

from gangsaw.codecs import Visibility
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.peers import Cube, Peer, general_peers, whole
from gangsaw.tasks.bench.table import Row, call_seconds, say

OURS, PCODEC = "visibility dense", "pcodec"
ENCODES, DECODES = 100, 200  # MB/s that are asked
CONTROLS = "noise", "packed"  # which pcodec need not be beaten on


def rows() -> Iterator[Row]:
    """Yield ratios and speeds of every array and codec; ours has pcodec's ratio as its target."""
    set_thread_limit(1)
    for name, values in arrays():
        say(name)
        ratios, own = {}, list[Row]()
        for peer in (*general_peers(values), _ours(values)):
            ratio, rates = _measured(peer, values)
            ratios[peer.name] = ratio
            own += _rows(name, peer.name, ratio, rates, ratios)
        yield from own


def _ours(values: Floats) -> Peer:
    codec = Visibility(axes="b" * (values.ndim - 2) + "ft" if values.ndim > 2 else "auto")

    def decode(frame: object) -> Cube:
        out = np.empty_like(values)
        codec.decode_chunk(frame, out)
        return out

    return whole(OURS, codec.encode_chunk, decode)


def _measured(peer: Peer, values: Floats) -> tuple[float, tuple[float, float]]:
    """Return the ratio of a codec, and MB/s in both directions."""
    peer.decode(peer.encode(values))  # compiles
    parts, into = call_seconds(peer.encode, values)
    back, out_of = call_seconds(peer.decode, parts)
    assert back.tobytes() == values.tobytes(), peer.name
    size = values.nbytes / 1e6
    return values.nbytes / sum(map(len, parts)), (size / into, size / out_of)


def _rows(
    array: str, codec: str, ratio: float, rates: tuple[float, float], ratios: dict[str, float]
) -> Iterator[Row]:
    is_asked = codec == OURS and not array.startswith(CONTROLS)
    target = f">= {ratios[PCODEC]:.4g}" if is_asked and PCODEC in ratios else ""
    yield Row(f"{array}, {codec}", ratio, "ratio", target)
    for word, rate, asked in zip(("encode", "decode"), rates, (ENCODES, DECODES), strict=True):
        yield Row(f"{array}, {codec}, {word}", rate, "MB/s", f">= {asked}" if is_asked else "")
