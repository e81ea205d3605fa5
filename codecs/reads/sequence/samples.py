"""Samples of the kind "sequence": reads of a random genome, and other contents of such files."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.alphabet import reverse_complement_text
from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.sample_lines import any_bytes, join_lines

Lines = list[bytes]


def samples() -> list[Sample]:
    """Return all samples; they are the same on every machine."""
    rng = np.random.default_rng(5)
    genome = _genome(rng, 500)
    plain = Params(kind="sequence", lane=256)
    pairs = Params(kind="sequence", pairs=True, lane=256)
    ascending = [genome[i : i + 60] for i in range(0, 400, 15) for _ in range(1 + i % 2)]
    cases = {
        "overlaps": (_reads(rng, genome, 30), plain),
        "pairs": (_mates(rng, genome, 14), pairs),
        "sorted": (ascending, plain),
        "sorted-pairs": (_mates(rng, genome[:280], 24, is_sorted=True), pairs),
        "variants": (_variants(rng, genome, 36), Params(kind="sequence", lane=1024)),
        "pieces": (_pieces(rng, genome, 12), plain),
        "other-letters": (_other_bases(rng, genome), plain),
        "long": (_long_lines(genome), Params(kind="sequence", lane=64)),
    }
    made = [Sample(f"sequence-{name}", join_lines(lines), p) for name, (lines, p) in cases.items()]
    is_open = Sample("sequence-open", join_lines(_reads(rng, genome, 20))[:-1], plain)
    rna = Sample("sequence-rna", _as_rna(join_lines(_other_bases(rng, genome))), plain)
    still = Sample("sequence-strands", join_lines(_both_strands(rng, genome)), plain)
    return [*any_bytes(Params(kind="sequence", lane=64)), *made, is_open, rna, still]


def _both_strands(rng: np.random.Generator, genome: bytes) -> Lines:
    """Return ascending reads, several per position, on one strand and then on the other."""
    reads = [
        _changed(rng, genome[p : p + 60], b"ACGT", i % 2)
        for p in range(0, 400, 40)
        for i in range(6)
    ]
    return [reverse_complement_text(read) if i % 6 > 2 else read for i, read in enumerate(reads)]


def _as_rna(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a text with U instead of most T."""
    thymine = np.flatnonzero(text == ord("T"))
    text = text.copy()
    text[thymine[thymine % 9 > 0]] = ord("U")
    return text


def _genome(rng: np.random.Generator, n: int) -> bytes:
    return bytes(rng.choice(LETTER_OF_CODE[:4], n))


def _changed(rng: np.random.Generator, read: bytes, bases: bytes, n: int) -> bytes:
    """Return a read with random bytes of `bases` at n positions."""
    out: npt.NDArray[np.uint8] = np.frombuffer(read, np.uint8).copy()
    out[rng.integers(0, len(read), n)] = rng.choice(np.frombuffer(bases, np.uint8), n)
    return out.tobytes()


def _reads(rng: np.random.Generator, genome: bytes, n: int, length: int = 50) -> Lines:
    places = rng.integers(0, len(genome) - length, n)
    reads = [_changed(rng, genome[p : p + length], b"ACGTN", i % 4) for i, p in enumerate(places)]
    return [reverse_complement_text(read) if i % 3 == 0 else read for i, read in enumerate(reads)]


def _mates(rng: np.random.Generator, genome: bytes, n: int, is_sorted: bool = False) -> Lines:
    places = rng.integers(0, len(genome) - 120, n)
    if is_sorted:
        places = np.sort(places)
    mates = (
        (genome[p : p + 50], reverse_complement_text(genome[p + 60 : p + 110])) for p in places
    )
    return [_changed(rng, read, b"ACGT", i % 2) for pair in mates for i, read in enumerate(pair)]


def _variants(rng: np.random.Generator, genome: bytes, n: int) -> Lines:
    """Return reads of two strains, with third bases at some of their differences."""
    other = bytearray(genome[:150])
    other[20::17] = other[20::17].translate(bytes.maketrans(b"ACGT", b"CGTA"))
    third = bytearray(other)
    third[20::34] = third[20::34].translate(bytes.maketrans(b"ACGT", b"CGTA"))
    strains = [bytes(genome[:150]), bytes(other), bytes(third)]
    chosen = (strains[min(2, i % 7 // 2)] for i in range(n))
    reads = [s[p : p + 70] for s, p in zip(chosen, rng.integers(0, 80, n), strict=True)]
    return [reverse_complement_text(read) if i % 2 else read for i, read in enumerate(reads)]


def _pieces(rng: np.random.Generator, genome: bytes, n: int) -> Lines:
    """Return lines joined from two positions, some with random bases between them."""
    places = rng.integers(0, len(genome) - 60, (n, 2))
    parts = [(genome[a : a + 40], reverse_complement_text(genome[b : b + 45])) for a, b in places]
    joints = [_genome(rng, 3 * (i % 3)) for i in range(n)]
    return [a + joint + b for (a, b), joint in zip(parts, joints, strict=True)]


def _other_bases(rng: np.random.Generator, genome: bytes) -> Lines:
    reads = [
        _changed(rng, read, b"NNRYnacgt.*-", i // 3)
        for i, read in enumerate(_reads(rng, genome, 16))
    ]
    return [*reads, b"", b"N" * 40, b"A", b"", b"acgtacgt", b"\0\1", genome[:40] + b"N" * 20]


def _long_lines(genome: bytes) -> Lines:
    return [
        genome,
        b"",
        reverse_complement_text(genome),
        genome[:3],
        genome[100:400] + b"N" + genome[50:150],
    ]
