"""Records and regions of a store, in Python and by `gangsaw extract`."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from helpers.counting_store import CountingStore
from helpers.genomes import arrays_of

import gangsaw
import gangsaw.genomes
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.genomics.genomes.stored import regions, stored
from gangsaw.tasks.genomics.genomes.stored.stream import GenomeStream

RNG = np.random.default_rng(5)
LONG = "".join(RNG.choice(list("ACGTacgtNR"), 2000, p=[0.22] * 4 + [0.025] * 4 + [0.01] * 2))
RECORDS = {"chr1": LONG, "chr1:5-9": "GATTACA", "empty": "", "U/x|2": "ACGURYSWKMBDHVNacgun*-"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("genome")
    lines = [line for name, letters in RECORDS.items() for line in (f">{name} told", letters)]
    (folder / "a.fa").write_text("\n".join([line for line in lines if line]) + "\n")
    gangsaw.compress(folder / "a.fa", folder / "a.zarr")
    return folder / "a.zarr"


def test_records_by_name(store: Path) -> None:
    genome = gangsaw.genomes.open(store)
    assert genome.names == tuple(RECORDS)
    assert genome.lengths.tolist() == [len(letters) for letters in RECORDS.values()]
    record = genome["chr1"]
    assert record.head == "chr1 told"
    assert record[100:200] == LONG[100:200].encode()
    assert record[-7:] + record[5] == (LONG[-7:] + LONG[5]).encode()
    assert [one.text().decode() for one in genome] == list(RECORDS.values())
    assert record.text(3, 3) == b""
    with pytest.raises(BadParams, match=r"no record 'chr2'; there is chr1"):
        genome["chr2"]
    with pytest.raises(BadParams, match="chr1 has residues 0 to 2000, not 1999 to 2001"):
        record.text(1999, 2001)
    with pytest.raises(IndexError):
        record[2000]


def test_codes_and_words(store: Path) -> None:
    record = gangsaw.genomes.open(store)["chr1"]
    part = LONG[100:300].upper()
    codes = ["ACGT".find(letter) % 5 for letter in part]
    assert record.codes(100, 300).tolist() == codes
    words = record.words(100, 300)
    found = [int(words[i // 32]) >> 2 * (i % 32) & 3 for i in range(200)]
    assert found == [code % 4 for code in codes]
    packed = record.packed(100, 300)
    assert packed.unpacked()[0].decode() == part
    for k, stride in ((1, 1), (21, 7), (32, 3)):
        kmers = record.kmers(k, stride, 100, 300)
        places = [at for at in range(0, 201 - k, stride) if set(part[at : at + k]) <= set("ACGT")]
        assert kmers.places.tolist() == [100 + at for at in places]
        values = [sum(codes[at + i] << 2 * i for i in range(k)) for at in places]
        assert kmers.words.tolist() == values
    with pytest.raises(BadParams, match="k must be 1"):
        record.kmers(33)
    with pytest.raises(BadParams, match="device must be cpu or gpu"):
        record.words(device="tpu")


def test_a_region_reads_only_its_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are fetched: header and index of the chunk, and one block of sixteen, once."""
    letters, counting = RNG.choice(np.frombuffer(b"ACGT", np.uint8), 1 << 20), CountingStore()
    codec = gangsaw.codecs.Dna(mode="pack", block=1 << 16)  # type: ignore[attr-defined]
    array = zarr.create_array(
        counting, data=letters, chunks=letters.shape, serializer=codec, compressors=None
    )
    (tmp_path / "a.fa").write_bytes(b">a\n" + letters.tobytes() + b"\n")
    stream = GenomeStream(str(tmp_path / "a.fa"))
    arrays = [MemoryArray(x, ("x",), name) for name, x in arrays_of(stream).items()]
    read = ZarrMemory(letters[:0], ("x",), "sequence", array=array)
    monkeypatch.setattr(stored, "BLOCK", 1 << 16)
    genome = stored.StoredGenome([*arrays[1:], read], stream.outcome)
    counting.reads.clear()
    for begin in (500_000, 490_000, 500_500):
        part = genome.read_residues(begin, begin + 1000)
        assert np.array_equal(part, letters[begin : begin + 1000])
    assert sum(size for _, size in counting.reads) < (1 << 15)


@dataclass(frozen=True, eq=False)
class ZarrMemory(MemoryArray):
    """An array of Zarr as a source."""

    array: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.array.shape
        return shape

    def read(self, region: Any) -> Any:
        return self.array[region]


@pytest.mark.parametrize(
    "wanted",
    [
        ["chr1:1,000-1,100"],
        ["chr1:1990", "chr1:-70"],
        ["U/x|2", "chr1:7-7"],
        ["-i", "chr1:100-250", "U/x|2"],
        ["-n", "7", "chr1:1-20"],
    ],
)
def test_extract_writes_what_samtools_writes(
    store: Path, gangsaw: CommandLine, monkeypatch: pytest.MonkeyPatch, wanted: list[str]
) -> None:
    if shutil.which("samtools") is None:
        pytest.skip("needs samtools")
    monkeypatch.setattr(regions, "SLAB", 50)
    fasta = store.parent / "a.fa"
    command = ["samtools", "faidx", str(fasta), *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert gangsaw.ok("extract", store, *wanted).out == done.stdout


def test_braces_hold_a_name(store: Path) -> None:
    opened = gangsaw.genomes.open(store)
    for name in opened.names:
        length = len(opened[name])
        found = regions.find_region(opened, f"{{{name}}}")
        assert (found.record.name, found.begin, found.end) == (name, 0, length)
        if length:
            found = regions.find_region(opened, f"{{{name}}}:1-{length}")
            assert (found.record.name, found.begin, found.end) == (name, 0, length)
    with pytest.raises(BadParams, match="no record"):
        regions.find_region(opened, "{nothing}:1-2")


def test_extract_takes_a_file_of_regions(store: Path, gangsaw: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("chr1:1-3\n\nempty\nchr1:5-9\n")
    gangsaw.ok("extract", store, "-r", tmp_path / "r.txt", "-o", tmp_path / "o.fa")
    known = f">chr1:1-3\n{LONG[:3]}\n>empty\n>chr1:5-9\nGATTACA\n"
    assert (tmp_path / "o.fa").read_text() == known


def test_extract_takes_bed(store: Path, gangsaw: CommandLine, tmp_path: Path) -> None:
    lines = "# made\ntrack name=x\nchr1\t0\t3\nchr1\t5\t9\tgene\t7\t-\n\n"
    (tmp_path / "r.bed").write_text(lines)
    gangsaw.ok("extract", store, "-r", tmp_path / "r.bed", "-o", tmp_path / "o.fa")
    known = f">chr1:1-3\n{LONG[:3]}\n>chr1:6-9\n{LONG[5:9]}\n"
    assert (tmp_path / "o.fa").read_text() == known


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (["chr1:1990-2001"], "chr1:1990-2001: chr1 has residues 1 to 2,000"),
        (["chr1:0-5"], "chr1 has residues 1 to 2,000"),
        (["chr1:9-5"], "chr1:9-5: chr1 has residues 1 to 2,000: name the first, then"),
        (["chr11"], "there is chr1"),
        (["chr1", "nobody:1-2"], "no record 'nobody'"),
        ([], "name the regions"),
        (["--name", "x"], "holds a genome, for which extract has no --name"),
        (["-r", "nowhere.txt"], "No such file"),
    ],
)
def test_a_wrong_region_is_one_line(
    store: Path, gangsaw: CommandLine, tmp_path: Path, wanted: list[str], problem: str
) -> None:
    code = 1 if "No such" in problem else 2
    said = gangsaw("extract", store, *wanted, "-o", tmp_path / "o.fa").failed(code)
    assert problem in said
    assert not list(tmp_path.iterdir())
