"""Reads found by their names and by their signatures."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine

import gangsaw
from gangsaw import reads
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.genomics.reads.commands.extract import neighbours
from gangsaw.tasks.genomics.reads.index import build, find
from gangsaw.tasks.genomics.reads.index.kinds import KINDS, NAMES
from gangsaw.tasks.genomics.reads.synthetic import make_reads

MADE = make_reads(300, 80, genome=3000)
USAGE = 2


def records(text: bytes) -> list[str]:
    lines = text.decode().splitlines(keepends=True)
    return ["".join(lines[i : i + 4]) for i in range(0, len(lines), 4)]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reads")
    for i, text in enumerate((MADE.first, MADE.second)):
        (folder / f"{i}.fastq").write_bytes(text)
    gangsaw.compress([folder / "0.fastq", folder / "1.fastq"], folder / "reads.zarr")
    return folder / "reads.zarr"


@pytest.fixture(scope="module")
def store(plain: Path) -> Path:
    """The same with both indexes, of many files each."""
    copy = plain.with_name("indexed.zarr")
    shutil.copytree(plain, copy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "PART", 64)
        for kind in KINDS:
            assert reads.add_index(copy, kind) > 0
    return copy


def test_a_name_finds_its_read_or_its_pair(store: Path, gangsaw: CommandLine) -> None:
    pairs = list(zip(records(MADE.first), records(MADE.second), strict=True))
    name = pairs[7][0].split()[0][1:]
    assert gangsaw.ok("extract", store, "--name", name).out == pairs[7][0]
    both = gangsaw.ok("extract", store, "--name", name.removesuffix("/1")).out
    assert both == "".join(pairs[7])
    assert "no read 'nobody'" in gangsaw("extract", store, "--name", "nobody").failed(USAGE)


def test_names_are_found_wherever_they_are(store: Path) -> None:
    found = reads.open(store)
    names = list(found[:].names)
    assert all(found.find(names[i]) == [i] for i in range(0, len(names), 29))


def test_a_bin_has_reads_that_overlap(store: Path, gangsaw: CommandLine) -> None:
    found = reads.open(store)
    sequence = found[40].sequences[0]
    near = found.near(sequence)
    assert {40, 41} <= set(near)
    assert all(number ^ 1 in near for number in near)
    share = [max(map(len, common(sequence, found[i].sequences[0]))) >= 14 for i in near]
    assert sum(share) >= len(near) / 2
    out = gangsaw.ok("extract", store, "--bin", sequence.decode()).out
    assert out == "".join(found.text(i, i + 1).decode() for i in near)
    assert "has no signature" in gangsaw("extract", store, "--bin", "AAAC").failed(USAGE)


def common(a: bytes, b: bytes) -> list[bytes]:
    """Pieces of 14 letters of `a` that `b` has on either strand."""
    other = b.translate(bytes.maketrans(b"ACGT", b"TGCA"))[::-1]
    pieces = (a[i : i + 14] for i in range(len(a) - 13))
    return [b"", *(piece for piece in pieces if piece in b or piece in other)]


def test_without_an_index_it_says_what_to_do(plain: Path, gangsaw: CommandLine) -> None:
    for option, kind in (("--name", "names"), ("--bin", "bins")):
        said = gangsaw("extract", plain, option, "ACGTACGTACGTACGTACGT").failed(USAGE)
        assert f"gangsaw index-reads STORE {kind}" in said
    assert "by their numbers" in gangsaw("extract", plain).failed(USAGE)
    assert "names or bins" in gangsaw("index-reads", plain, "letters").failed(USAGE)


def test_a_store_with_indexes_is_whole(store: Path, plain: Path, gangsaw: CommandLine) -> None:
    from gangsaw import verify

    files = [str(plain.with_name(f"{i}.fastq")) for i in range(2)]
    assert verify(store, against=files).ok
    said = gangsaw.ok("info", store, "--json").figures["reads"]["indexes"]
    names = records(MADE.first) + records(MADE.second)
    assert said["names"] == len({name.split()[0][:-2] for name in names})
    assert 0 < said["bins"] <= 1200
    assert "--overwrite" in gangsaw("index-reads", store).failed(USAGE)
    before = reads.open(store).near(records(MADE.first)[3].split()[1])
    gangsaw.ok("index-reads", store, "bins", "--overwrite")
    assert reads.open(store).near(records(MADE.first)[3].split()[1]) == before
    assert not list(store.parent.glob(".*index*"))


def test_an_index_that_is_wrong_finds_no_wrong_read(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "copy.zarr")
    group = zarr.open_group(tmp_path / "copy.zarr")
    names = list(reads.open(store)[:3].names)
    numbers = group["name_line"]
    assert isinstance(numbers, zarr.Array)
    numbers[:] = np.ones(600, np.uint64)  # Zarr stores no chunk of zeros
    assert [reads.open(tmp_path / "copy.zarr").find(name) for name in names] == [[], [1], []]
    numbers[:] = np.full(600, 600, np.uint64)
    with pytest.raises(CorruptChunk, match="name_line names records that are not there"):
        reads.open(tmp_path / "copy.zarr").find(names[0])


def test_names_that_are_numbers_need_no_index(tmp_path: Path) -> None:
    (tmp_path / "in.fastq").write_bytes(MADE.first)
    own = {"names": "number", "interleaved": "yes", "pairing": "trusted"}
    gangsaw.compress(tmp_path / "in.fastq", tmp_path / "n.zarr", **own)
    numbered = reads.open(tmp_path / "n.zarr")
    assert numbered.find("3") == [4, 5]
    assert numbered.find("0") == numbered.find("151") == numbered.find("x") == []
    gangsaw.compress(tmp_path / "in.fastq", tmp_path / "none.zarr", names="none")
    with pytest.raises(BadParams, match="without names"):
        reads.open(tmp_path / "none.zarr").find("3")


class Keys:
    """Sorted keys as a store has them."""

    def __init__(self, keys: list[int]) -> None:
        self.keys = np.array(keys, np.uint64)

    def size(self, _: str) -> int:
        return self.keys.size

    def some(self, _: str, begin: int, end: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        return self.keys[begin:end]


def test_keys_are_found_wherever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "WINDOW", 4)
    rng = np.random.default_rng(1)
    spread = [int(key) for key in rng.integers(0, 1 << 64, 60, np.uint64)]
    for keys in ([], [5], sorted(spread), [3] * 30 + [9] * 30, [0, (1 << 64) - 1]):
        for key in {0, 3, 4, 9, (1 << 64) - 1, 1 << 64, *keys[::7]}:
            wanted = sum(k < key for k in keys)
            assert find.first_from(Keys(keys), NAMES, key) == wanted  # type: ignore[arg-type]


def test_neighbours_are_taken_together() -> None:
    assert list(neighbours([4, 5, 6, 1, 2, 2, 9, 0])) == [(4, 7), (1, 3), (9, 10), (0, 1)]
    assert list(neighbours([0])) == [(0, 1)]
    assert list(neighbours([])) == []
