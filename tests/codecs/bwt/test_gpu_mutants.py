"""Small changes to the kernels of entropy stages: the checks of this folder have to notice them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.host_module import KernelFault
from helpers.bwt_gpu import check_decoding, check_encoding
from helpers.bwt_strings import runs

from gangsaw.codecs.bwt.dense import cpu as dense
from gangsaw.codecs.bwt.dense.device import gpu_encode as dense_encode
from gangsaw.codecs.bwt.fast import cpu as fast
from gangsaw.codecs.bwt.fast.device import gpu_decode as fast_decode
from gangsaw.codecs.bwt.fast.device import gpu_encode as fast_encode
from gangsaw.codecs.core.cuda import sources
from gangsaw.codecs.core.cuda.launch import forget_modules

MUTANTS = [
    ("fast.device", "decode.cu", "own[symbol + step] <= slot", "own[symbol + step] < slot"),
    ("fast.device", "decode.cu", "lane.at < lane.stop ?", "lane.at + 1 < lane.stop ?"),
    ("fast.device", "decode.cu", "lane.at != lane.stop || ", ""),
    ("fast.device", "encode.cu", "i <= k; ++i", "i < k; ++i"),
    ("lanes.device", "runs.cu", "rank < list.n_seen", "rank <= list.n_seen"),
    ("lanes.device", "runs.cu", "list.lane <= holder", "list.lane < holder"),
    ("lanes.device", "runs.cu", "max(1, list.n_seen - 1)", "max(1, list.n_seen)"),
    ("lanes.device", "runs.cu", "block.n_lanes >= lane * total", "block.n_lanes > lane * total"),
    ("dense.device", "encode.cu", "int(bit) << DECISION", "int(!bit) << DECISION"),
    ("dense.device", "encode.cu", "(bit ? 0 : p)", "p"),
    ("dense.device", "encode.cu", "end > block.most", "end > block.most + 1"),
    ("dense.device", "encode.cu", "rest & 1 : rest > 0", "rest & 1 : rest > 1"),
]


def check(cupy: Any) -> None:
    """Encode and decode a little by every kernel."""
    text = runs(np.random.default_rng(3), 900, 40, 2.5)
    some = [text, np.repeat(text, 37), np.append(np.zeros(1 << 17, np.uint8), text[:50])]
    check_encoding(
        cupy,
        lambda bwt: fast.encode_fast_parts(bwt, bwt.size),
        fast_encode.encode_fast_blocks,
        some,
    )
    data = [np.concatenate(fast.encode_fast_parts(bwt, bwt.size) or []) for bwt in some]
    data += [np.append(data[0], np.zeros(2, np.uint8)), data[0][:-2]]
    sizes = [*(bwt.size for bwt in some), text.size, text.size]
    check_decoding(cupy, fast.decode_fast_string, fast_decode.decode_fast_blocks, data, sizes)
    limits = [text[:n] for n in range(2, 120)]  # some of which just get shorter
    check_encoding(
        cupy, dense.encode_dense_parts, dense_encode.encode_dense_blocks, [*some[:2], *limits]
    )


@pytest.mark.full
def test_the_kernels_are_right(cupy: Any) -> None:
    check(cupy)


@pytest.mark.full
@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize(("folder", "file", "there", "instead"), MUTANTS)
def test_mutants_are_noticed(
    folder: str, file: str, there: str, instead: str, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, source = f"gangsaw.codecs.bwt.{folder}", sources.source
    assert source(package, file).count(there) == 1

    def changed(home: str, name: str) -> str:
        text = source(home, name)
        return text.replace(there, instead) if (home, name) == (package, file) else text

    monkeypatch.setattr(sources, "source", changed)
    forget_modules()
    try:
        with pytest.raises((AssertionError, KernelFault)):
            check(cupy)
    finally:
        forget_modules()
