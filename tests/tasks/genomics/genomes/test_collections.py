"""Several genomes in one store: each comes back as it was, and any part of it."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.strains import N_BASES, fasta, strains

import gangsaw
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.formats.contract.opening import find_format
from gangsaw.tasks.genomics.genomes.files import independent_reader


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("strains")
    found = []
    for i, letters in enumerate(strains()):
        text = fasta(letters, 60 + i, b"\r\n" if i == 2 else b"\n")
        path = folder / (f"s{i}.fa.gz" if i == 1 else f"s{i}.fa")
        path.write_bytes(gzip.compress(text) if i == 1 else text)
        found.append(path)
    found[3].write_bytes(found[3].read_bytes()[:-1])  # its last line has no end
    return found


@pytest.fixture(scope="module")
def store(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("set") / "set.zarr"
    gangsaw.compress(list(map(str, files)), str(target))
    return target


def text_of(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def test_files_come_back(store: Path, files: list[Path], tmp_path: Path) -> None:
    gangsaw.decompress(str(store), str(tmp_path / "out"))
    found = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in found] == [path.name for path in files]
    assert list(map(text_of, found)) == list(map(text_of, files))


def test_related_genomes_take_little(store: Path) -> None:
    size = sum(path.stat().st_size for path in store.rglob("c/**/*") if path.is_file())
    assert size < 1.7 * N_BASES / 4  # four alone take 3.5 times as much as one


def test_it_equals_its_sources(store: Path, files: list[Path]) -> None:
    found = gangsaw.verify(str(store), against=list(map(str, files)))
    assert not found.problems


def test_records_are_found_by_sample_and_name(store: Path) -> None:
    genome = gangsaw.genomes.open(store)
    assert list(genome.names) == [f"s{i}/{name}" for i in range(4) for name in ("one", "two")]
    rng = np.random.default_rng(1)
    for i, letters in enumerate(strains()):
        cut = letters.size // 3
        for name, part in (("one", letters[:cut]), ("two", letters[cut:])):
            record = genome[f"s{i}/{name}"]
            assert len(record) == part.size
            begin, end = sorted(rng.integers(0, part.size, 2).tolist())
            assert record[begin:end] == part[begin:end].tobytes()
            assert record[:] == part.tobytes()


def test_one_sample_is_written_alone(store: Path, files: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "one.fa"
    gangsaw.decompress(str(store), str(target), sample="s2")
    assert target.read_bytes() == files[2].read_bytes()


@pytest.mark.parametrize(("name", "sample"), [("all.fa", ""), ("one.fa", "s9")])
def test_a_target_that_cannot_be(store: Path, tmp_path: Path, name: str, sample: str) -> None:
    own = {"sample": sample} if sample else {}
    with pytest.raises(BadParams, match="sample"):
        gangsaw.decompress(str(store), str(tmp_path / name), **own)
    assert not (tmp_path / name).exists()


def test_two_files_of_one_name_are_refused(files: list[Path], tmp_path: Path) -> None:
    twin = tmp_path / files[0].name
    shutil.copy(files[0], twin)
    with pytest.raises(BadParams, match="one name, s0"):
        gangsaw.compress([str(files[0]), str(twin)], str(tmp_path / "set.zarr"))


def test_a_store_says_what_its_sources_are(files: list[Path], tmp_path: Path) -> None:
    short, one = tmp_path / "plasmid.fa", files[0]
    short.write_text(">p\nACGTACGTTA\n")
    store, both = tmp_path / "set.zarr", [str(one), str(short)]
    with pytest.raises(BadParams, match=r"has no mate.*\(--collection yes reads files as genomes"):
        gangsaw.compress(both, str(store))
    gangsaw.compress(both, str(store), collection="yes")
    assert gangsaw.verify(str(store), against=both).ok
    assert gangsaw.verify(str(store), against=both[::-1]).problems
    records = tmp_path / "records.fa"
    records.write_text("".join(f">r{i}\n{'ACGT' * 20}\n" for i in range(3000)))
    gangsaw.compress(str(records), str(tmp_path / "r.zarr"), format="genome")
    assert find_format([str(records)]).name == "fasta"
    assert gangsaw.verify(str(tmp_path / "r.zarr"), against=str(records)).ok


def test_mates_of_reads_are_no_collection(tmp_path: Path) -> None:
    mates = []
    for mate in (1, 2):
        path = tmp_path / f"r{mate}.fa"
        path.write_text("".join(f">r{i}/{mate}\n{'ACGT' * 20}\n" for i in range(9)))
        mates.append(str(path))
    assert find_format(mates).name == "fasta"


@pytest.mark.parametrize("name", ["piece", "edit", "bundle", "other", "lower", "known"])
@pytest.mark.parametrize("seed", range(3))
def test_false_rows_are_found(store: Path, tmp_path: Path, name: str, seed: int) -> None:
    """Rows that pass every checksum, and are of no such genomes, lead nowhere outside."""
    copy, rng = tmp_path / "set.zarr", np.random.default_rng(seed)
    shutil.copytree(store, copy)
    array = zarr.open_array(str(copy / name), mode="r+")
    values = np.asarray(array[...])
    flat = values.reshape(-1)
    at = rng.integers(0, flat.size, 3)
    flat[at] ^= 1 << rng.integers(0, 8 * flat.itemsize, 3).astype(flat.dtype)
    array[...] = values
    genome = gangsaw.genomes.open(copy)
    try:
        lengths = [len(record[:]) for record in genome]
    except CorruptChunk:
        return
    assert lengths == [len(record) for record in genome]


def test_letters_of_records_are_read_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = np.random.default_rng(1).integers(65, 91, 1000, np.uint8)
    monkeypatch.setattr(independent_reader, "WINDOW_BYTES", 64)
    window = independent_reader.LetterWindow(zarr.array(letters, chunks=(100,)))
    for begin, end in [
        (0, 10),
        (10, 30),
        (30, 64),
        (60, 70),
        (70, 70),
        (70, 700),
        (5, 9),
        (999, 1000),
    ]:
        assert window.text(begin, end) == letters[begin:end].tobytes()
