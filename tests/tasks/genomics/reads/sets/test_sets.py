"""Several sets of files in one store: each comes back to the byte; views and options know them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.bgzipped import bgzip
from helpers.command_line import CommandLine

import gangsaw
import gangsaw.reads
from gangsaw import compress
from gangsaw.codecs.core.errors import BadParams
from gangsaw.reads import open as open_reads
from gangsaw.tasks.genomics.align.queries.reading import are_paired
from gangsaw.tasks.genomics.reads.index.build import add_index
from gangsaw.tasks.tcr.annotation.reading import check_reads

GENOME = np.random.default_rng(1).choice(np.frombuffer(b"ACGT", "u1"), 3000)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bgz": lambda text: bgzip(text, 3000),
    ".bz2": bz2.compress,
}


def text(seed: int, names: list[str], length: int = 60, end: bytes = b"\n") -> bytes:
    """Return FASTQ of pieces of a genome."""
    rng, lines = np.random.default_rng(seed), []
    for name in names:
        at = int(rng.integers(0, GENOME.size - length))
        quality = bytes(rng.choice(list(b"F:,#"), length).tolist())
        lines += [b"@" + name.encode(), GENOME[at : at + length].tobytes(), b"+", quality]
    return b"".join(line + end for line in lines)


def samtools_like(folder: Path, n: int = 300, n_singles: int = 31) -> list[Path]:
    """Write files as `samtools fastq -1 -2 -s -0` names their reads."""
    texts = {
        "a.fq": text(1, [f"p{i}/1" for i in range(n)]),
        "b.fq": text(2, [f"p{i}/2" for i in range(n)], 75),
        "s.fq": text(3, [f"s{i} of none" for i in range(n_singles)], end=b"\r\n"),
        "o.fq": text(4, [f"o{i}" for i in range(3)], 40)[:-1],
    }
    return [_put(folder / name, found) for name, found in texts.items()]


def _put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def stored(paths: list[Path], store: Path, **own: Any) -> gangsaw.reads.ReadSet:
    """Store files and hold them against what comes back."""
    gangsaw.compress(paths, store, **own)
    copies = [store.with_name(f"copy{i}.fq") for i in range(len(paths))]
    gangsaw.decompress(store, copies, overwrite=True)
    for path, copy in zip(paths, copies, strict=True):
        ours, theirs = copy.read_bytes(), path.read_bytes()
        if own.get("order", "kept") == "kept":
            assert ours == theirs, path
        else:
            assert records(ours) == records(theirs), path
    assert gangsaw.verify(store, against=paths).ok
    return gangsaw.reads.open(store)


def records(fastq: bytes) -> Counter[tuple[bytes, ...]]:
    lines = fastq.rstrip(b"\r\n").split(b"\n")
    whole = [tuple(line.strip(b"\r") for line in lines[i : i + 4]) for i in range(0, len(lines), 4)]
    return Counter(whole)


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("order", ["kept", "bins", "sorted", "smallest"])
def test_singles_beside_mates_come_back_to_their_files(tmp_path: Path, order: str) -> None:
    reads = stored(samtools_like(tmp_path), tmp_path / "a.zarr", sets="2,1,1", order=order)
    assert len(reads) == 634
    assert [own.records for own in reads.contents.parts] == [600, 31, 3]
    names = [name.split(b"/")[0] for name in reads[:600].names]
    assert names[::2] == names[1::2]
    assert {name[:1] for name in reads[600:].names} == {b"s", b"o"}


@pytest.mark.full
def test_zeros_between_small_sets_are_told(tmp_path: Path) -> None:
    paths, store = samtools_like(tmp_path), tmp_path / "a.zarr"
    notes = gangsaw.compress(paths, store, sets="2,1,1", order="sorted").notes
    size = zarr.open_group(store)["sequence"].size
    text = 600 * 68.5 + 31 * 61 + 3 * 41
    assert any(f": {size - int(text):,} bytes are zeros between sets" in note for note in notes)
    notes = gangsaw.compress(paths, store, sets="2,1,1", order="bins", overwrite=True).notes
    assert not any("zeros" in note for note in notes)


def test_a_store_of_several_sets_is_of_a_later_version_and_one_of_a_set_is_not(
    tmp_path: Path,
) -> None:
    paths = samtools_like(tmp_path, 5, 1)
    gangsaw.compress(paths, tmp_path / "a.zarr", sets="2,1,1")
    about: Any = zarr.open_group(tmp_path / "a.zarr", mode="r").attrs["gangsaw_reads"]
    assert about["version"] == 2
    assert about["files"] == ["a.fq", "b.fq", "s.fq", "o.fq"]
    gangsaw.compress(paths[:2], tmp_path / "b.zarr")
    about = zarr.open_group(tmp_path / "b.zarr", mode="r").attrs["gangsaw_reads"]
    assert about["version"] == 1
    assert "sets" not in about


@pytest.mark.parametrize(
    "change",
    [
        {"sets": []},
        {"sets": [{"files": [0, 1], "interleaved": False, "records": 9}]},
        {"sets": [{"files": [0, 1, 2], "interleaved": False, "records": 12}]},
        {"sets": [{"files": [], "interleaved": False, "records": 12}]},
        {"sets": "x"},
        {"files": ["a.fq"]},
        {"version": 3},
    ],
    ids=str,
)
def test_sets_that_are_not_whole_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    gangsaw.compress(samtools_like(tmp_path, 5, 1), tmp_path / "a.zarr", sets="2,1,1")
    place = tmp_path / "a.zarr" / "zarr.json"
    data = json.loads(place.read_bytes())
    data["attributes"]["gangsaw_reads"] |= change
    place.write_text(json.dumps(data))
    with pytest.raises(BadParams, match="attribute gangsaw_reads"):
        gangsaw.reads.open(tmp_path / "a.zarr")


def test_what_a_sceptic_has_for_singles(tmp_path: Path) -> None:
    paths = samtools_like(tmp_path, 20)
    empty, none = _put(tmp_path / "none.fq", b""), _put(tmp_path / "none2.fq", b"")
    stored([*paths[:2], empty], tmp_path / "a.zarr", sets="2,1")
    assert gangsaw.reads.open(tmp_path / "a.zarr").contents.is_paired
    only = stored([empty, none, paths[2]], tmp_path / "b.zarr", sets="2,1")
    assert len(only) == 31
    stored([empty, none, empty], tmp_path / "c.zarr", sets="2,1")
    for order in ("bins", "sorted"):
        stored([empty, none, paths[2]], tmp_path / f"{order}.zarr", sets="2,1", order=order)
    blanks = _put(tmp_path / "blanks.fq", paths[2].read_bytes() + b"\n\r\n")
    stored([blanks, *paths[:2]], tmp_path / "d.zarr", sets="1,2")


def test_mates_of_a_set_in_turns_and_singles_behind_them(tmp_path: Path) -> None:
    a, b, s, _ = samtools_like(tmp_path)
    mates = zip(*(iter_records(path) for path in (a, b)), strict=True)
    both = _put(tmp_path / "both.fq", b"".join(record for pair in mates for record in pair))
    reads = stored([both, s], tmp_path / "a.zarr", sets="i,1")
    assert [own.together for own in reads.contents.parts] == [2, 1]
    gangsaw.decompress(tmp_path / "a.zarr", [tmp_path / f"{i}.fq" for i in range(3)])
    for i, path in enumerate((a, b, s)):
        assert records((tmp_path / f"{i}.fq").read_bytes()) == records(path.read_bytes())
    gangsaw.compress(both, tmp_path / "b.zarr", sets="i")
    gangsaw.compress(both, tmp_path / "c.zarr", interleaved="yes")
    about = [zarr.open_group(tmp_path / f"{x}.zarr").attrs["gangsaw_reads"] for x in "bc"]
    assert about[0] == about[1]


def iter_records(path: Path) -> list[bytes]:
    lines = path.read_bytes().splitlines(keepends=True)
    return [b"".join(lines[i : i + 4]) for i in range(0, len(lines), 4)]


@pytest.mark.parametrize("order", ["kept", "bins"])
def test_index_reads_and_lanes_of_differently_packed_files(tmp_path: Path, order: str) -> None:
    paths, texts, packers = [], {}, list(PACKERS.items())
    for lane in (1, 2):
        names = [f"A:1:H:{lane}:1101:{i}:9" for i in range(200)]
        for which, (kind, length) in enumerate({"I1": 8, "I2": 8, "R1": 28, "R2": 90}.items()):
            mate = kind[1]
            found = text(which, [f"{name} {mate}:N:0:AC+GT" for name in names], length)
            name = f"x_S1_L00{lane}_{kind}_001.fastq"
            suffix, pack = packers[which] if which < 3 and lane == 1 else ("", bytes)
            paths.append(_put(tmp_path / f"{name}{suffix}", pack(found)))
            texts[paths[-1]] = found
    store = tmp_path / "a.zarr"
    (note,) = gangsaw.compress(paths, store, order=order).notes
    assert "together: x_S1_L001_I1_001.fastq.gz + x_S1_L001_I2_001.fastq.bgz + " in note
    copies = [tmp_path / f"copy{i}.fq" for i in range(8)]
    gangsaw.decompress(store, copies)
    for path, copy in zip(paths, copies, strict=True):
        assert records(copy.read_bytes()) == records(texts[path])
        assert order != "kept" or copy.read_bytes() == texts[path]
    assert gangsaw.verify(store, against=paths).ok
    assert zarr.open_group(store, mode="r")["sequence"].attrs["pairs"] is True
    reads = gangsaw.reads.open(store)
    assert [len(line) for line in reads[4:8].sequences] == [8, 8, 28, 90]
    assert len({name.split()[0] for name in reads[4:8].names}) == 1
    with pytest.raises(BadParams, match="more than two reads of a name, which BAM cannot hold"):
        gangsaw.decompress(store, tmp_path / "a.bam", options=of_format("bam"))


def of_format(name: str) -> Any:
    from gangsaw.tasks.formats.contract.format import ExportOptions

    return ExportOptions(format=name)


def test_files_of_a_set_that_do_not_go_together(tmp_path: Path) -> None:
    one = text(1, [f"r{i}" for i in range(9)])
    for name in ("R1", "R2", "R3"):
        _put(tmp_path / f"x_{name}.fq", one)
    paths = [tmp_path / f"x_{name}.fq" for name in ("R1", "R2", "R3")]
    stored(paths, tmp_path / "a.zarr")
    _put(paths[1], text(1, [f"r{i}" for i in range(8)]))
    with pytest.raises(BadParams, match=r"x_R1.fq: record 9 has no mate: .*x_R2.fq has 8 records"):
        gangsaw.compress(paths, tmp_path / "b.zarr")
    _put(paths[1], text(1, [f"q{i}" for i in range(9)]))
    (_, note) = gangsaw.compress(paths, tmp_path / "b.zarr").notes
    assert "x_R1.fq, " in note
    assert "x_R2.fq: records 1, 'r0' and 'q0', do not look like mates" in note
    with pytest.raises(BadParams, match=r"do not look like mates.*--pairing trusted"):
        gangsaw.compress(paths, tmp_path / "b.zarr", names="number", overwrite=True)


@pytest.mark.parametrize("order", ["kept", "smallest"])
def test_names_of_three_files_that_are_numbered(tmp_path: Path, order: str) -> None:
    paths = [
        _put(tmp_path / f"x_{k}.fq", text(k, [f"x{i}/{k}" for i in range(40)])) for k in (1, 2, 3)
    ]
    store = tmp_path / "a.zarr"
    stored(paths, store, sets="3", order=order)
    (*_, note) = gangsaw.compress(paths, store, sets="3", overwrite=True).notes or ("",)
    assert "do not look like mates" not in note


def test_fasta_of_several_sets(tmp_path: Path) -> None:
    fasta = b">a\nACGTAC\nGT\n>b\nAC\n"
    paths = [
        _put(tmp_path / "a.fa", fasta),
        _put(tmp_path / "b.fa", fasta.replace(b"\nGT", b"GT")),
        _put(tmp_path / "s.fa", fasta.replace(b"\n", b"\r\n") + b">c\nACGTACGTA\nC\n"),
    ]
    store = tmp_path / "a.zarr"
    gangsaw.compress(paths, store, format="fasta", sets="2,1")
    copies = [tmp_path / f"copy{i}.fa" for i in range(3)]
    gangsaw.decompress(store, copies)
    assert [copy.read_bytes() for copy in copies] == [path.read_bytes() for path in paths]


def test_numbers_shards_and_targets_of_sets(tmp_path: Path) -> None:
    paths = samtools_like(tmp_path, 10, 5)
    store = tmp_path / "a.zarr"
    gangsaw.compress(paths, store, sets="2,1,1", names="number")
    reads = gangsaw.reads.open(store)
    assert list(reads[:].names) == [b"%d" % (i // 2 + 1) for i in range(20)] + [
        b"%d" % i for i in range(11, 19)
    ]
    assert reads.find("3") == [4, 5]
    assert reads.find("11") == [20]
    assert reads.find("19") == []
    parts = []
    for i in range(1, 4):
        gangsaw.decompress(store, tmp_path / "p.fq", shard=f"{i}/3", overwrite=True)
        parts.append((tmp_path / "p.fq").read_bytes())
    gangsaw.decompress(store, tmp_path / "whole.fq")
    assert b"".join(parts) == (tmp_path / "whole.fq").read_bytes()
    assert [len(records(part)) for part in parts] == [12, 10, 6]
    for n in (2, 3, 5):
        with pytest.raises(BadParams, match=f"made of 4 files: name 1 or 4 targets, not {n}"):
            gangsaw.decompress(store, [tmp_path / f"{i}.fq" for i in range(n)], overwrite=True)


def test_views_index_and_jobs_of_mixed_reads(tmp_path: Path, gangsaw: CommandLine) -> None:
    paths = samtools_like(tmp_path)
    store = tmp_path / "a.zarr"
    compress(paths, store, sets="2,1,1")
    out = gangsaw.ok("info", store).out
    assert "634, fastq of 4 files" in out
    assert "600 in 300 pairs, a.fq + b.fq" in out
    assert gangsaw.ok("info", store, "--json").figures["reads"]["sets"][1]["records"] == 31
    add_index(store, "names")
    add_index(store, "bins")
    reads = open_reads(store)
    assert reads.find("p7") == [14, 15]
    assert reads.find("s3") == [603]
    near = reads.near(reads[0].sequences[0])
    assert {0, 1} <= set(near)
    assert all((i ^ 1) in near for i in near if i < 600)
    with pytest.raises(BadParams, match=r"holds mates and other reads.*--pairs no"):
        are_paired([str(store)], "")
    assert not are_paired([str(store)], "no")
    with pytest.raises(BadParams, match="holds mates and other reads"):
        check_reads([str(store)])
    lanes = tmp_path / "lanes.zarr"
    compress([*paths[:2], *paths[:2]], lanes, sets="2")
    assert are_paired([str(lanes)], "")


def test_the_command_line_of_sets(
    tmp_path: Path, gangsaw: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, s, o = samtools_like(tmp_path, 20)
    store = tmp_path / "a.zarr"
    line = gangsaw("compress", a, b, s, o, store).failed(2)
    assert "their names do not show which are mates: --sets 2,1 is" in line
    gangsaw.ok("compress", a, b, s, o, store, "--sets", "2,1,1", "--dry-run", "--json")
    assert not store.exists()
    how = ("--sets", "2,1,1", "--json", "--workers", "0")
    with io.TextIOWrapper(s.open("rb")) as given:
        monkeypatch.setattr(sys, "stdin", given)
        done = gangsaw.ok("compress", a, b, "-", o, store, *how)
    assert done.figures["store"] == str(store)
    against = [word for path in (a, b, s, o) for word in ("--against", path)]
    gangsaw.ok("verify", store, *against)
    line = gangsaw("verify", store, *against[:4]).failed(2)
    assert "was made of 4 files, as --sets 2,1,1: name them all, in the same order" in line
    copies = [tmp_path / f"{i}.fq" for i in range(4)]
    gangsaw.ok("decompress", store, *copies)
    assert [copy.read_bytes() for copy in copies] == [path.read_bytes() for path in (a, b, s, o)]


@pytest.mark.full
def test_a_killed_job_of_several_sets_goes_on(tmp_path: Path) -> None:
    paths = samtools_like(tmp_path, 2000, 900)
    whole, store = tmp_path / "whole.zarr", tmp_path / "a.zarr"
    chunks = {f"{name}_byte": 1 << 14 for name in ("sequence", "quality", "name")}
    gangsaw.compress(paths, whole, chunks=chunks, sets="2,1,1")
    code = f"""
import os, signal, gangsaw
from gangsaw.tasks.jobs.streams.growing import StoreStep
stored, left = StoreStep.__call__, iter(range(9))
def store(step, batch):
    if next(left, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    return stored(step, batch)
StoreStep.__call__ = store
gangsaw.compress({[str(p) for p in paths]!r}, {str(store)!r}, chunks={chunks!r}, sets="2,1,1")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    summary = gangsaw.compress(paths, store, chunks=chunks, sets="2,1,1", resume=True)
    assert summary.resumed > 0
    for path in sorted(whole.rglob("c/*")):
        assert path.read_bytes() == (store / path.relative_to(whole)).read_bytes()
