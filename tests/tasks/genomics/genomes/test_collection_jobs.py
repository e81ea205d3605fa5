"""Jobs over several genomes: what they say, what they hold, and how they go on."""

from __future__ import annotations

import lzma
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.strains import fasta, strains

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import CODES
from gangsaw.tasks.genomics.genomes.collections import collected
from gangsaw.tasks.genomics.genomes.related import batch as batches
from gangsaw.tasks.genomics.genomes.related.batch import Collected
from gangsaw.tasks.search.stored.indexed_text import open_indexed
from gangsaw.tasks.search.stored.job import index_job

SMALL = {"letter": 20_000, "edit_row": 100}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder, found = tmp_path_factory.mktemp("strains"), []
    for i, letters in enumerate(strains()):
        path = folder / f"s{i}.fa"
        path.write_bytes(fasta(letters, 60))
        found.append(str(path))
    return found


def chunks_of(store: Path) -> dict[str, bytes]:
    paths = [path for path in store.rglob("c/**/*") if path.is_file()]
    return {str(path.relative_to(store)): path.read_bytes() for path in paths}


def test_the_ratio_is_that_of_the_letters(files: list[str], tmp_path: Path) -> None:
    done = gangsaw.compress(files, str(tmp_path / "set.zarr"))
    n = sum(letters.size for letters in strains())
    assert (done.raw_bytes, done.samples) == (n, n)
    assert done.ratio > 12
    again = gangsaw.compress(files, str(tmp_path / "set.zarr"), resume=True)
    assert (again.raw_bytes, again.ratio, again.resumed) == (n, done.ratio, done.chunks)


@pytest.mark.full
def test_a_run_that_stopped_is_resumed(files: list[str], tmp_path: Path) -> None:
    gangsaw.compress(files, str(tmp_path / "whole.zarr"), chunks=SMALL)
    target = tmp_path / "set.zarr"

    def stop(progress: Any) -> None:
        if progress.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gangsaw.compress(files, str(target), chunks=SMALL, on_progress=stop)
    with pytest.raises(BadParams):
        gangsaw.genomes.open(target)
    done = gangsaw.compress(files, str(target), chunks=SMALL, resume=True)
    assert 3 <= done.resumed < done.chunks
    assert chunks_of(target) == chunks_of(tmp_path / "whole.zarr")


@pytest.mark.parametrize("asked", [{"collection": "yes"}, {"format": "collection"}])
def test_one_file_is_a_collection_on_request(
    files: list[str], tmp_path: Path, asked: dict[str, Any]
) -> None:
    gangsaw.compress(files[0], str(tmp_path / "set.zarr"), **asked)
    gangsaw.decompress(str(tmp_path / "set.zarr"), str(tmp_path / "out"))
    (found,) = (tmp_path / "out").iterdir()
    assert found.read_bytes() == Path(files[0]).read_bytes()


def test_one_file_is_a_genome_else(files: list[str], tmp_path: Path) -> None:
    gangsaw.compress(files[0], str(tmp_path / "one.zarr"))
    assert not gangsaw.genomes.open(tmp_path / "one.zarr").info.samples


def test_an_index_of_a_collection_is_refused(files: list[str], tmp_path: Path) -> None:
    gangsaw.compress(files, str(tmp_path / "set.zarr"))
    with pytest.raises(BadParams, match="collection of genomes, which is not indexed"):
        index_job(str(tmp_path / "set.zarr"))
    with pytest.raises(BadParams, match="collection of genomes, which is not indexed"):
        open_indexed(str(tmp_path / "set.zarr"))


def test_letters_come_back_where_a_genome_is_taken_in_parts(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collected, "BATCH_RESIDUES", 1 << 14)
    monkeypatch.setattr("gangsaw.tasks.genomics.genomes.files.fasta.STEP", 1 << 12)
    done = gangsaw.compress(files, str(tmp_path / "set.zarr"))
    gangsaw.decompress(str(tmp_path / "set.zarr"), str(tmp_path / "out"))
    found = [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())]
    assert found == [Path(path).read_bytes() for path in files]
    assert done.ratio > 12


def test_rows_hold_no_more_than_themselves() -> None:
    """A view would hold what the rows of a genome might take at most: many times as much."""
    first, second, *_ = strains()
    batch = Collected(first.size)
    batch.add(CODES[first])
    batch.add(CODES[second])
    rows = max(batch._rows, key=len)
    assert len(rows) > 30
    assert rows.base is None


def many_strains(n: int) -> Collected:
    """A batch of strains, of which each has edits of its own."""
    first, rng = CODES[strains()[0]], np.random.default_rng(8)
    batch = Collected(first.size)
    for _ in range(n):
        codes = first.copy()
        at = rng.integers(0, codes.size, codes.size // 40)
        codes[at] = rng.integers(0, 4, at.size)
        batch.add(codes)
    return batch


def test_rows_are_given_as_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = many_strains(6).tables()
    monkeypatch.setattr(batches, "ROWS_PER_STEP", 3000)
    parts = list(many_strains(6).parts())
    assert sum("edit" in part for part in parts) > 1
    for name, table in whole.items():
        own = [part[name] for part in parts if name in part]
        assert np.array_equal(np.concatenate(own), table)


def test_memory_is_what_is_told() -> None:
    many_strains(2).tables()  # compiled
    tracemalloc.start()
    try:
        batch = many_strains(40)
        held = tracemalloc.get_traced_memory()[0]
        assert held < 1.05 * batch.memory_bytes + (1 << 19)
        tracemalloc.reset_peak()
        n = sum(len(part.get("edit", ())) for part in batch.parts())
        peak = tracemalloc.get_traced_memory()[1]
        assert n > 50_000
        assert peak < 2 * batch.memory_bytes + 24 * batches.ROWS_PER_STEP
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("rate", "is_whole"), [(0.2, True), (0.001, False)])
def test_a_small_set_takes_the_form_that_is_smaller(
    tmp_path: Path, rate: float, *, is_whole: bool
) -> None:
    """Letters that differ much are one dense block, which finds what is alike; xz takes more."""
    first = strains()[0][:10_000]
    rng, genomes = np.random.default_rng(2), [first]
    for i in range(4):
        at = np.flatnonzero(rng.random(first.size) < rate)
        letters = first.copy()
        letters[at] = rng.choice(list(b"ACGT"), at.size)
        genomes.append(letters[10 * i :])
    paths = [tmp_path / f"v{i}.fa" for i in range(len(genomes))]
    for path, letters in zip(paths, genomes, strict=True):
        path.write_bytes(fasta(letters, 60))
    done = gangsaw.compress(list(map(str, paths)), str(tmp_path / "set.zarr"))
    n_known = zarr.open_array(str(tmp_path / "set.zarr/known"), mode="r").shape[0]
    assert (n_known == done.samples) == is_whole
    text = b"".join(path.read_bytes() for path in paths)
    assert done.stored_bytes < len(lzma.compress(text))
    gangsaw.decompress(str(tmp_path / "set.zarr"), str(tmp_path / "out"))
    found = [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())]
    assert found == [path.read_bytes() for path in paths]
