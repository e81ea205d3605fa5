"""Test samples for the suite of all codecs: seeded small texts with parameters.

They are typical, edge and hostile cases.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.dna.params import MODES, Params

Text = npt.NDArray[np.uint8]
KERNELS = {
    name: [dict[str, int | str]()]
    for name in (
        *("gencodex/gencodex.cu", "parts.cu", "letters/split.cu", "letters/join.cu"),
        *("dense/encode.cu", "dense/decode.cu"),
    )
}
LANES_BLOCK = 1 << 15  # its index has 4 lanes; the block, with exceptions, has 2


def samples() -> list[Sample]:
    """Return all test arrays of the codec; the same on every machine."""
    lanes = genome(np.random.default_rng(4), LANES_BLOCK + 500)
    lanes[LANES_BLOCK // 2 : LANES_BLOCK // 2 + 4] = ord("N")
    return [
        *(
            Sample(f"{mode}-{name}", text, Params(mode=mode, block=block))  # type: ignore[arg-type]
            for mode in MODES
            for name, (text, block) in _texts().items()
        ),
        Sample("dense-lanes", lanes, Params(block=LANES_BLOCK)),
        *(
            Sample(f"{mode}-rna", _rna(), Params(mode=mode, block=1 << 9))  # type: ignore[arg-type]
            for mode in MODES
        ),
        Sample("dense-again", np.tile(genome(np.random.default_rng(5), 400), 5), Params()),
    ]


def _texts() -> dict[str, tuple[Text, int]]:
    rng = np.random.default_rng(3)
    return {
        "bases": (genome(rng, 1003), 256),
        "one": (_text(b"g"), 0),
        "masked": (_masked(rng), 1 << 13),
        "all-n": (_text(b"N" * 300), 128),
        "lower": (_text(b"acgt" * 80), 64),
        "iupac": (_text(b"ACGTRYKMSWBDHVN-acgtryn*." * 20), 128),
        "lines": (_text(b">chr1 a\nACGTNNNN\nacgt\r\n" * 12), 64),
        "repeats": (np.repeat(genome(rng, 24), 60), 1 << 11),
        "noise": (rng.integers(0, 256, 300, np.uint8), 128),
    }


def genome(rng: np.random.Generator, n: int) -> Text:
    """Return n random bases, of which a part is repeated."""
    text = rng.choice(LETTER_OF_CODE[:4], n)
    text[n // 2 : n // 2 + n // 4] = text[: n // 4]
    return text


def _rna() -> Text:
    """Return RNA letters with lower case, N and some T, then a block with as many U as T."""
    text = genome(np.random.default_rng(6), 1 << 10)
    text[text == ord("T")] = ord("U")
    text[100:180] |= 32
    text[300:340], text[400:403] = ord("N"), ord("T")
    equal = np.frombuffer(b"ACGTU" * 60, np.uint8)
    return np.concatenate([text, equal])


def _masked(rng: np.random.Generator) -> Text:
    """Return bases for several pieces of `pack_piece`, with lower case and N in some pieces."""
    text = genome(rng, 10_000)
    text[4000:5300] |= 32
    text[9000:9700] = ord("N")
    text[9700:9990] = ord("n")
    return text


def _text(data: bytes) -> Text:
    return np.frombuffer(data, np.uint8)
