"""Mode dense against its reference, on hostile lanes, and on genomes."""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import dna_dense

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.dna.dense import coding
from gangsaw.codecs.dna.dense.model import logs, mixing
from gangsaw.codecs.dna.dense.model.shape import shape_of

GENOMES = Path(os.environ.get("GANGSAW_SHARED", "../shared"), "data/genomes/assemblies")


def repetitive(n: int) -> npt.NDArray[np.uint8]:
    """Bases with a repeat, one on the other strand and one base that occurs again and again."""
    bases = np.random.default_rng(n).integers(0, 4, n, np.uint8)
    size = n // 8
    bases[n - size :] = 3 - bases[:size][::-1]
    bases[n // 2 : n // 2 + size] = bases[size : 2 * size]
    bases[n // 2 + size // 2] ^= 1
    bases[3 * size : 3 * size + size // 4] = 0
    return bases


def test_logarithms_are_those_of_the_format() -> None:
    """Their checksums stand in SPEC.md."""
    sums = [
        hashlib.sha256(table.astype("<i2").tobytes()).hexdigest()[:16]
        for table in (logs.LOGS, logs.POWER)
    ]
    assert sums == ["1319a724719c7ed0", "1edde04601c5bb96"]


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize(("n", "lanes"), [(1, 1), (17, 1), (40, 2), (2999, 4), (3000, 64)])
def test_the_reference_writes_the_same_lanes(n: int, lanes: int, is_old: bool) -> None:
    bases, shape = repetitive(n), shape_of(n, lanes, is_old)
    expected = dna_dense.encoded(bases.tolist(), lanes, is_old)
    found = coding.encode_bases(bases, shape)
    assert found.body.tobytes() == b"".join(expected)
    assert found.bits.tolist() == [8 * len(lane) for lane in expected]
    again = coding.decode_bases(found.body, found.bits, n, shape)
    assert (again == bases).all()


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_match_begins_on_either_strand(is_turned: bool) -> None:
    """What is there once more takes next to nothing; before, only on the other strand."""
    first = np.random.default_rng(5).integers(0, 4, 4000, np.uint8)
    again = 3 - first[::-1] if is_turned else first
    once, twice = (
        coding.encode_bases(bases).body.size for bases in (first, np.append(first, again))
    )
    assert twice - once < 100


def test_shares_are_rounded_down() -> None:
    """At each sum of powers where the ratio changes: floats of 32 bits alone round some up."""
    whole = 65472 << 14
    ratios = np.arange(whole // (4 * 65535) + 1, whole // 65535 + 1)
    sums = np.unique(np.concatenate([whole // ratios, whole // ratios + 1]))
    sums = sums[(sums >= 65535) & (sums <= 4 * 65535)]
    power = np.zeros((4, sums.size), np.int32)
    for row in power:
        row[:] = np.minimum(sums - power.sum(0), 65535)
    shares, found = (power.astype(np.int64) * (whole // sums) >> 14) + 16, np.empty_like(power)
    mixing.share_out.py_func(power, found, sums.size)
    first = shares.argmax(0)
    shares[first, np.arange(sums.size)] += 65536 - shares.sum(0)
    assert (found == shares).all()


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 300))
def test_any_bytes_decode_or_are_corrupt(body: bytes, n: int) -> None:
    """What decodes is what an encoder wrote."""
    data, bits = np.frombuffer(body, np.uint8), np.array([8 * len(body)])
    try:
        bases = coding.decode_bases(data, bits, n)
    except CorruptChunk:
        return
    assert coding.encode_bases(bases).body.tobytes() == body


def test_lanes_that_lie_are_corrupt() -> None:
    bases = repetitive(3000)
    shape = shape_of(3000, 4)
    body, bits = coding.encode_bases(bases, shape)
    moved = bits + np.array([16, -16, 0, 0])
    for wrong in (bits[:3], bits - 8, moved, np.zeros(4, np.int64), [*bits, 16]):
        with pytest.raises(CorruptChunk):
            coding.decode_bases(body, np.asarray(wrong, np.int64), 3000, shape)


@pytest.mark.full
@pytest.mark.skipif(not GENOMES.is_dir(), reason=f"no genomes in {GENOMES}")
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("ecoli_K12_MG1655.fna", 1.901),
        ("human_region_1Mb.fa", 1.789),
        ("yeast_chrI_R64.fa", 1.874),
        ("CHNTXX_Z00044.gb", 1.63),
    ],
)
def test_genomes_take_so_few_bits_a_base(name: str, most: float) -> None:
    with gzip.open(GENOMES / f"{name}.gz") as file:
        text = file.read()
    lines = text.rpartition(b"\nORIGIN")[2].upper().split(b"\n")  # of GenBank
    text = b"".join(line for line in lines if not line.startswith(b">"))
    codes = bytes.maketrans(b"ACGT", bytes(range(4)))
    others = bytes(set(range(256)) - set(b"ACGT"))
    bases = np.frombuffer(text.translate(None, others).translate(codes), np.uint8)
    blocks = [bases[i : i + (1 << 22)] for i in range(0, bases.size, 1 << 22)]
    n_bits = sum(8 * found.body.size + 24 * 64 for found in map(coding.encode_bases, blocks))
    assert n_bits / bases.size <= most
