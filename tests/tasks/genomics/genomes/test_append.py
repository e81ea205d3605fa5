"""Genomes that are added to a collection: nothing else changes, and nothing is half there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from helpers.strains import fasta, strains

import gangsaw
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.genomics.genomes.collections import append

KILLED = """
import os, sys, gangsaw.genomes
gangsaw.genomes.append(sys.argv[2:], sys.argv[1], on_progress=lambda state: os._exit(9))
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder, found = tmp_path_factory.mktemp("strains"), []
    for i, letters in enumerate(strains()):
        path = folder / f"s{i}.fa"
        path.write_bytes(fasta(letters, 60 + i))
        found.append(str(path))
    return found


@pytest.fixture(scope="module")
def first(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("set") / "set.zarr"
    gangsaw.compress(files[:2], str(store))
    return store


@pytest.fixture
def store(first: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "set.zarr"))


def contents(store: Path) -> dict[str, bytes]:
    paths = [path for path in store.rglob("*") if path.is_file()]
    return {str(path.relative_to(store)): path.read_bytes() for path in paths}


def chunks(store: Path) -> dict[str, bytes]:
    return {name: data for name, data in contents(store).items() if "/c/" in name}


def check(store: Path, files: list[str], folder: Path) -> None:
    """Hold what comes out against the files, and by `verify`."""
    gangsaw.decompress(str(store), str(folder))
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert found == {Path(path).name: Path(path).read_bytes() for path in files}
    assert not gangsaw.verify(str(store)).problems
    assert not gangsaw.verify(str(store), against=files).problems


@pytest.mark.full
def test_no_other_genome_is_written_anew(store: Path, files: list[str], tmp_path: Path) -> None:
    before = contents(store)
    for path in files[2:]:
        gangsaw.genomes.append([path], store)
    after = contents(store)
    assert {name for name in before if after.get(name) != before[name]} == {"zarr.json"}
    check(store, files, tmp_path / "out")


def test_it_takes_little_more_than_all_at_once(
    store: Path, files: list[str], tmp_path: Path
) -> None:
    gangsaw.genomes.append(files[2:3], store)
    gangsaw.genomes.append(files[3:], store)
    gangsaw.compress(files, str(tmp_path / "all.zarr"))
    stores = store, tmp_path / "all.zarr"
    added, at_once = (sum(map(len, chunks(path).values())) for path in stores)
    assert added < 1.06 * at_once  # these strains are a tree: what two share is said twice


def test_records_are_found(store: Path, files: list[str]) -> None:
    gangsaw.genomes.append(files[2:], store)
    genome = gangsaw.genomes.open(store)
    assert genome.names[-2:] == ("s3/one", "s3/two")
    rng, letters = np.random.default_rng(5), strains()[3]
    cut = letters.size // 3
    for _ in range(20):
        begin, end = sorted(rng.integers(0, letters.size - cut, 2).tolist())
        assert genome["s3/two"][begin:end] == letters[cut:][begin:end].tobytes()


def test_info_counts_what_was_added(store: Path, files: list[str], gangsaw: CommandLine) -> None:
    before = gangsaw.ok("info", str(store), "--json").figures["genome"]
    gangsaw.ok("append", *files[2:], str(store))
    after = gangsaw.ok("info", str(store), "--json").figures["genome"]
    assert after["records"] == 8
    assert after["added"] == [2]
    sizes = [one["bits_per_base"] * one["residues"] for one in (before, after)]
    own = chunks(store / "added/1")
    of_letters = [n for n in own if n.split("/")[0] not in ("name", "name_offset", "record_offset")]
    assert sizes[1] - sizes[0] == pytest.approx(8 * sum(len(own[name]) for name in of_letters))


def test_letters_are_kept_as_those_before(files: list[str], tmp_path: Path) -> None:
    store = tmp_path / "set.zarr"
    gangsaw.compress(files[:2], str(store), codec="dna", mode="pack")
    gangsaw.genomes.append(files[2:], store)
    old, new = (zarr.open_array(str(store), path=path) for path in ("known", "added/1/known"))
    assert new.serializer == old.serializer
    check(store, files, tmp_path / "out")


def test_a_genome_without_novel_letters(store: Path, files: list[str], tmp_path: Path) -> None:
    twin = tmp_path / "twin.fa"
    shutil.copy(files[0], twin)
    done = gangsaw.genomes.append([str(twin)], store)
    assert zarr.open_array(str(store), path="added/1/known").shape == (0,)
    assert done.stored_bytes < 400
    check(store, [*files[:2], str(twin)], tmp_path / "out")


def test_a_small_set_that_is_one_block(tmp_path: Path) -> None:
    rng, paths = np.random.default_rng(1), []
    for i in range(3):
        paths.append(str(tmp_path / f"v{i}.fa"))
        Path(paths[-1]).write_bytes(fasta(rng.choice(list(b"ACGT"), 900).astype(np.uint8), 60))
    gangsaw.compress(paths[:2], str(tmp_path / "set.zarr"))
    gangsaw.genomes.append(paths[2:], tmp_path / "set.zarr")
    check(tmp_path / "set.zarr", paths, tmp_path / "out")


def test_a_name_that_is_there_is_refused(store: Path, files: list[str], tmp_path: Path) -> None:
    before = contents(store)
    with pytest.raises(BadParams, match=r"has a genome s1 already: .*s1\.fa"):
        gangsaw.genomes.append([files[2], files[1]], store)
    with pytest.raises(BadParams, match="one name, s2"):
        gangsaw.genomes.append([files[2], files[2]], store)
    assert contents(store) == before


def test_what_is_no_collection_is_refused(files: list[str], tmp_path: Path) -> None:
    gangsaw.compress(files[0], str(tmp_path / "one.zarr"))
    with pytest.raises(BadParams, match="holds no collection"):
        gangsaw.genomes.append(files[1:], tmp_path / "one.zarr")


@pytest.mark.full
@pytest.mark.parametrize("again", ["--resume", ""])
def test_a_run_that_was_killed(
    store: Path, files: list[str], tmp_path: Path, gangsaw: CommandLine, again: str
) -> None:
    """The store is as it was, and the next run makes of it what one run makes."""
    whole = shutil.copytree(store, tmp_path / "whole.zarr")
    gangsaw.ok("append", *files[2:], str(whole))
    before = contents(store)
    done = subprocess.run([sys.executable, "-c", KILLED, str(store), *files[2:]], check=False)
    assert done.returncode == 9
    assert contents(store) == before
    assert (tmp_path / ".set.zarr.gangsaw-added").exists()
    check(store, files[:2], tmp_path / "old")
    gangsaw.ok("append", *files[2:], str(store), *([again] if again else []))
    assert not (tmp_path / ".set.zarr.gangsaw-added").exists()
    assert chunks(store) == chunks(whole)
    check(store, files, tmp_path / "out")


@pytest.mark.parametrize("resume", [True, False])
def test_a_run_that_was_killed_at_its_very_end(
    store: Path, files: list[str], tmp_path: Path, *, resume: bool
) -> None:
    """What lies in the store already, and is not in its metadata, is taken up."""
    old = (store / "zarr.json").read_bytes()
    gangsaw.genomes.append(files[2:], store)
    (store / "zarr.json").write_bytes(old)
    gangsaw.decompress(str(store), str(tmp_path / "old"))
    assert len(list((tmp_path / "old").iterdir())) == 2
    gangsaw.genomes.append(files[2:], store, resume=resume)
    check(store, files, tmp_path / "out")


def test_a_finished_run_again(store: Path, files: list[str]) -> None:
    gangsaw.genomes.append(files[2:3], store)
    gangsaw.genomes.append(files[3:], store)
    before = contents(store)
    for own in (files[2:3], files[3:]):
        again = gangsaw.genomes.append(own, store, resume=True)
        assert again.resumed == again.chunks
    assert contents(store) == before


def test_an_error_leaves_the_store(store: Path, files: list[str], tmp_path: Path) -> None:
    before, bad = contents(store), tmp_path / "bad.fa"
    bad.write_bytes(Path(files[2]).read_bytes() + b"\0")
    with pytest.raises(BadParams, match="byte 0"):
        gangsaw.genomes.append([str(bad)], store)
    assert contents(store) == before
    gangsaw.genomes.append(files[2:], store)
    check(store, files, tmp_path / "out")


@pytest.mark.parametrize("when", ["_take_up", "_publish"])
def test_what_another_run_added_meanwhile_stays(
    store: Path, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    then = getattr(append, when)

    def another_first(*arguments: Any, **how: Any) -> None:
        monkeypatch.setattr(append, when, then)
        aside = store.parent / "aside"
        (store.parent / ".set.zarr.gangsaw-lease").unlink()  # it ran out, as its machine hung
        added = store.parent / ".set.zarr.gangsaw-added"
        if added.exists():
            added.rename(aside)
        gangsaw.genomes.append(files[3:], store)
        if aside.exists():
            aside.rename(added)
        then(*arguments, **how)

    monkeypatch.setattr(append, when, another_first)
    told = {
        "_take_up": "changed meanwhile: nothing was added, run it again",
        "_publish": "took this target over",  # what is next to it may be the other job's
    }
    with pytest.raises(JobFailed, match=told[when]):
        gangsaw.genomes.append(files[2:3], store)
    check(store, [*files[:2], *files[3:]], tmp_path / "out")
    gangsaw.genomes.append(files[2:3], store)
    assert {path.name for path in store.parent.iterdir()} == {store.name, "out"}


def test_verify_tells_of_other_files(store: Path, files: list[str], tmp_path: Path) -> None:
    gangsaw.genomes.append(files[2:], store)
    other = tmp_path / "s1.fa"
    other.write_bytes(Path(files[1]).read_bytes().replace(b"A", b"C", 1))
    found = gangsaw.verify(str(store), against=[str(other), *files[2:]]).problems
    assert [line.split(":")[0] for line in found] == ["genome s0", "genome s1"]
    assert "not in the source" in found[0]
    assert "differs from the source's text at byte" in found[1]


def test_a_part_that_is_gone_is_told(store: Path, files: list[str]) -> None:
    gangsaw.genomes.append(files[2:], store)
    group: dict[str, Any] = json.loads((store / "zarr.json").read_bytes())
    nodes = group["consolidated_metadata"]["metadata"]
    group["consolidated_metadata"]["metadata"] = {
        name: node for name, node in nodes.items() if not name.startswith("added")
    }
    (store / "zarr.json").write_text(json.dumps(group))
    with pytest.raises(CorruptChunk, match="no arrays in added/1/"):
        gangsaw.genomes.open(store)
