"""What `gangsaw info` says of a store of reads, and what it draws."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from helpers.command_line import CommandLine

import gangsaw
from gangsaw.tasks.genomics.reads.stored.counts import rounded
from gangsaw.tasks.genomics.reads.stored.figures import ReadFigures
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.genomics.reads.views.plots import percentile
from gangsaw.tasks.genomics.reads.views.profile import PARTS, profile_of, sample_ranges
from gangsaw.tasks.store.source import open_zarr

RNG = np.random.default_rng(3)
LENGTHS = [0, 3, 30, 30, 40, 1, 600, 601, 30, 8]
SEQUENCES = ["".join(RNG.choice(list("ACGTNa"), n)) for n in LENGTHS]
QUALITIES = ["".join(map(chr, RNG.integers(33, 75, n))) for n in LENGTHS]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("info")
    pairs = zip(SEQUENCES, QUALITIES, strict=True)
    text = "".join(f"@r{i}\n{s}\n+\n{q}\n" for i, (s, q) in enumerate(pairs))
    (folder / "in.fastq").write_text(text)
    gangsaw.compress(folder / "in.fastq", folder / "reads.zarr", interleaved="yes")
    return folder / "reads.zarr"


def test_figures_are_those_of_the_text(store: Path, gangsaw: CommandLine) -> None:
    said = gangsaw.ok("info", store, "--json").figures
    letters, figures = Counter("".join(SEQUENCES)), said["reads"]["figures"]
    assert {chr(letter): n for letter, n in figures["letters"]} == letters
    assert figures["other_letters"] == {letter: letters[letter] for letter in "Na"}
    phred = Counter(ord(letter) - 33 for letter in "".join(QUALITIES))
    assert dict(figures["qualities"]) == phred
    assert dict(figures["lengths"]) == Counter(n - n % 2 if n > 512 else n for n in LENGTHS)
    assert (figures["shortest"], figures["longest"], figures["n50"]) == (0, 601, 600)
    assert figures["bases"] == sum(LENGTHS)
    stored = {array["name"]: array["stored_bytes"] for array in said["arrays"]}
    assert said["reads"]["bits"]["base"] == 8 * stored["sequence"] / sum(LENGTHS)
    assert said["reads"]["bits"]["name"] == 8 * stored["name"] / len(LENGTHS)
    lines = gangsaw.ok("info", store).out
    assert "10 in 5 pairs, fastq of 1 file" in lines
    others = sorted("Na", key=lambda letter: -letters[letter])
    assert "not ACGT: " + ", ".join(f"{letters[x]} {x}" for x in others) in lines


def test_a_picture_is_drawn(store: Path, tmp_path: Path, gangsaw: CommandLine) -> None:
    gangsaw.ok("info", store, "--plot", tmp_path / "reads.png")
    assert (tmp_path / "reads.png").read_bytes().startswith(b"\x89PNG")
    source = open_zarr(str(store))
    profile = profile_of(Stored(source.arrays, source.attrs), longest=601)
    assert profile.n_reads == len(LENGTHS)
    assert profile.letters.sum() == profile.qualities.sum() == sum(LENGTHS)
    first = Counter(letter for s in SEQUENCES for letter in s[:5])  # a column has 601/150 letters
    column = {chr(i): int(n) for i, n in enumerate(profile.letters[0]) if n}
    assert column == first


def test_percentiles_are_those_of_the_values() -> None:
    values = RNG.integers(0, 40, (3, 99))
    counts = np.array([np.bincount(row, minlength=256) for row in values])
    for part in (10, 50, 90):
        wanted = np.percentile(values, part, axis=1, method="inverted_cdf")
        assert (percentile(counts, part) == wanted).all()


def test_a_sample_is_spread_over_the_store() -> None:
    parts = list(sample_ranges(1_000_000, longest=150))
    assert len(parts) == PARTS
    assert parts[0][0] == 0
    assert parts[-1][1] == 1_000_000
    assert list(sample_ranges(50, longest=10**9)) == [
        (i * 49 // 15, i * 49 // 15 + 1) for i in range(16)
    ]


def test_lengths_keep_their_leading_bits() -> None:
    lengths = np.array([0, 1, 511, 512, 513, 1023, 1024, 1027, 12345, 2**40 + 1])
    assert rounded(lengths).tolist() == [0, 1, 511, 512, 512, 1022, 1024, 1024, 12320, 2**40]
    assert ReadFigures(lengths=((2, 10), (10, 1), (20, 1))).n50 == 10
    assert ReadFigures().n50 == 0
