"""Records of a damaged store in other formats: those in damaged blocks are left out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.damage import flip

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.api.exporting import ExportResult
from gangsaw.tasks.formats.contract.format import ExportOptions
from gangsaw.tasks.store.damage import DamagedStore

BASES = np.frombuffer(b"ACGT", np.uint8)


def reads(n: int, length: int, seed: int = 3) -> list[bytes]:
    """Records of FASTQ."""
    rng = np.random.default_rng(seed)
    bases, values = BASES[rng.integers(0, 4, (n, length))], rng.integers(53, 73, (n, length), "u1")
    lines = zip(bases, values, strict=True)
    return [
        b"@r%d x\n%b\n+\n%b\n" % (i, s.tobytes(), q.tobytes()) for i, (s, q) in enumerate(lines)
    ]


def sequences(n: int, most: int) -> list[bytes]:
    """Records of FASTA of a genome, on lines of 60 bases."""
    rng = np.random.default_rng(4)
    found = []
    for i in range(n):
        bases = BASES[rng.integers(0, 4, int(rng.integers(most // 2, most)))].tobytes()
        lines = (bases[at : at + 60] + b"\n" for at in range(0, len(bases), 60))
        found.append(b">chr%d\n" % i + b"".join(lines))
    return found


def left(records: list[bytes], done: ExportResult) -> list[bytes]:
    """Return the records that an export did not leave out."""
    gone = {number for one in done.skipped for number in range(one.first, one.last + 1)}
    return [record for number, record in enumerate(records, 1) if number not in gone]


def check_skipped(store: Path, target: Path, records: list[bytes]) -> ExportResult:
    """Write a damaged store; what is written are whole records, all but a few of them."""
    with pytest.raises(DamagedStore, match="--damaged skip writes the rest"):
        gangsaw.decompress(store, target)
    assert not target.exists()
    done = gangsaw.decompress(store, target, damaged="skip")
    kept = left(records, done)
    assert target.read_bytes() == b"".join(kept)
    assert 0 < len(kept) < len(records)
    assert done.is_incomplete
    return done


def test_reads_in_damaged_blocks_are_left_out(tmp_path: Path) -> None:
    records = reads(4000, 90)
    (tmp_path / "a.fastq").write_bytes(b"".join(records))
    gangsaw.compress(tmp_path / "a.fastq", tmp_path / "a.zarr")
    flip(tmp_path / "a.zarr/quality/c/0", 0.7)
    check_skipped(tmp_path / "a.zarr", tmp_path / "b.fastq", records)
    with pytest.raises(BadParams, match="FASTQ cannot fill what is damaged: it holds records"):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "c.fastq", damaged="fill")


@pytest.mark.full
def test_mates_are_left_out_together(tmp_path: Path) -> None:
    mates = reads(8000, 90), reads(8000, 90, seed=4)
    for which, records in enumerate(mates, 1):
        (tmp_path / f"a_{which}.fastq").write_bytes(b"".join(records))
    sources = [tmp_path / "a_1.fastq", tmp_path / "a_2.fastq"]
    gangsaw.compress(sources, tmp_path / "a.zarr")
    flip(tmp_path / "a.zarr/sequence/c/0", 0.6)
    targets = [tmp_path / "b_1.fastq", tmp_path / "b_2.fastq"]
    done = gangsaw.decompress(tmp_path / "a.zarr", targets, damaged="skip")
    both = [record for pair in zip(*mates, strict=True) for record in pair]
    kept = left(both, done)
    assert [path.read_bytes() for path in targets] == [b"".join(kept[::2]), b"".join(kept[1::2])]
    assert 0 < len(kept) < len(both)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "share"),
    [("sequence", 0.5), ("quality", 0.9), ("sequence_offset", 0.7), ("name_offset", 0.4)],
)
def test_reads_of_realistic_size(tmp_path: Path, name: str, share: float) -> None:
    records = reads(100_000, 100)
    (tmp_path / "a.fastq").write_bytes(b"".join(records))
    gangsaw.compress(tmp_path / "a.fastq", tmp_path / "a.zarr")
    flip(tmp_path / f"a.zarr/{name}/c/0", share)
    done = check_skipped(tmp_path / "a.zarr", tmp_path / "b.fastq", records)
    assert sum(one.last - one.first + 1 for one in done.skipped) < 10_000
    if name == "quality":  # FASTA has none of it
        options = ExportOptions("fasta")
        whole = gangsaw.decompress(
            tmp_path / "a.zarr",
            tmp_path / "c.fa",
            options=options,
            damaged="skip",
            accept_loss=True,
        )
        assert (len(whole.damaged), whole.skipped, whole.is_incomplete) == (1, (), False)


@pytest.mark.full
def test_where_all_names_are_lost_no_record_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.fastq").write_bytes(b"".join(reads(50_000, 40)))
    gangsaw.compress(tmp_path / "a.fastq", tmp_path / "a.zarr")
    flip(tmp_path / "a.zarr/name/c/0", 0.01)
    done = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.fastq", damaged="skip")
    assert [str(one) for one in done.skipped] == ["records 1 to 50000"]
    assert (tmp_path / "b.fastq").read_bytes() == b""


@pytest.mark.full
def test_bam_says_what_it_lacks(tmp_path: Path) -> None:
    pysam = pytest.importorskip("pysam")
    records = reads(20_000, 100)
    (tmp_path / "a.fastq").write_bytes(b"".join(records))
    gangsaw.compress(tmp_path / "a.fastq", tmp_path / "a.zarr")
    flip(tmp_path / "a.zarr/sequence/c/0")
    options = ExportOptions("bam")
    done = gangsaw.decompress(
        tmp_path / "a.zarr", tmp_path / "b.bam", options=options, damaged="skip", accept_loss=True
    )
    with pysam.AlignmentFile(str(tmp_path / "b.bam"), check_sq=False) as file:
        names = [segment.query_name.encode() for segment in file]
        comments = file.header.to_dict()["CO"]
    assert names == [record[1:].split()[0] for record in left(records, done)]
    assert comments[1:] == [str(one) for one in done.skipped]


def test_genomes_without_damaged_records(tmp_path: Path) -> None:
    records = sequences(40, 3000)
    (tmp_path / "a.fa").write_bytes(b"".join(records))
    gangsaw.compress(tmp_path / "a.fa", tmp_path / "a.zarr", format="genome", chunks=(8192,))
    flip(tmp_path / "a.zarr/sequence/c/4")
    check_skipped(tmp_path / "a.zarr", tmp_path / "b.fa", records)


@pytest.mark.full
def test_genomes_of_realistic_size(tmp_path: Path) -> None:
    records = sequences(40, 400_000)
    (tmp_path / "a.fa").write_bytes(b"".join(records))
    gangsaw.compress(tmp_path / "a.fa", tmp_path / "a.zarr", format="genome")
    flip(tmp_path / "a.zarr/sequence/c/0", 0.4)
    done = check_skipped(tmp_path / "a.zarr", tmp_path / "b.fa", records)
    options = {"damaged": "skip", "accept_loss": True}
    packed = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.2bit", **options)  # type: ignore[arg-type]
    assert packed.skipped == done.skipped
    gangsaw.compress(tmp_path / "b.2bit", tmp_path / "c.zarr")
    genome = ExportOptions("genome")
    gangsaw.decompress(tmp_path / "c.zarr", tmp_path / "c.fa", options=genome, accept_loss=True)
    one, other = ((tmp_path / name).read_bytes() for name in ("b.fa", "c.fa"))
    assert one.replace(b"\n", b"") == other.replace(b"\n", b"")


@pytest.mark.full
def test_genomes_of_a_collection(tmp_path: Path) -> None:
    records = sequences(6, 300_000)
    for name, first in (("one", 0), ("two", 1)):
        (tmp_path / f"{name}.fa").write_bytes(b"".join(records[first:]))
    gangsaw.compress([tmp_path / "one.fa", tmp_path / "two.fa"], tmp_path / "a.zarr")
    store = tmp_path / "b.zarr"
    shutil.copytree(tmp_path / "a.zarr", store)
    flip(store / "name/c/0", 0.9)
    with pytest.raises(DamagedStore):
        gangsaw.decompress(store, tmp_path / "out", options=ExportOptions("collection"))
    done = gangsaw.decompress(
        store, tmp_path / "out", options=ExportOptions("collection"), damaged="skip"
    )
    assert {one.unit for one in done.skipped} == {"one.fa: record", "two.fa: record"}


@pytest.mark.parametrize("layout", [{"chunks": (1 << 16,)}, {"params": {"block": 1 << 16}}])
def test_lines_of_texts(tmp_path: Path, layout: dict[str, Any]) -> None:
    """Chunks of one block each, or blocks of one chunk: what is around a damaged one stays."""
    rng = np.random.default_rng(6)
    lengths = rng.integers(1, 300, 4000)
    lines = [b"%d %b\n" % (i, bytes(rng.integers(97, 122, n, "u1"))) for i, n in enumerate(lengths)]
    (tmp_path / "a.log").write_bytes(b"".join(lines))
    gangsaw.compress(tmp_path / "a.log", tmp_path / "a.zarr", **layout)
    chunks = tmp_path / "a.zarr" / "text" / "c"
    if "params" in layout:
        for share in (0.1, 0.4, 0.5):  # of ten blocks, of which the fifth is next to the sixth
            flip(chunks / "0", share)
    else:
        for chunk in (0, 3, 4):
            flip(chunks / str(chunk))
    done = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.log", damaged="skip")
    kept = (tmp_path / "b.log").read_bytes().splitlines(keepends=True)
    assert set(kept) < set(lines)
    lost = sum(one.last - one.first + 1 for one in done.skipped)
    assert lost + sum(map(len, kept)) == sum(map(len, lines))
    assert lost < (3 << 16) + 4 * 310
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "c.log", damaged="fill", damaged_value=63)
    filled = (tmp_path / "c.log").read_bytes()
    assert (len(filled), filled.count(b"?")) == (sum(map(len, lines)), 3 << 16)
