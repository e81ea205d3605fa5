"""FASTA of genomes into stores and back: the same text, or one clear line."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from helpers.genomes import arrays_of, genome_in_memory, held, text_of_genome
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import gangsaw
import gangsaw.genomes
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.formats.contract.opening import find_format, open_paths
from gangsaw.tasks.genomics.align.job.genome import open_genome
from gangsaw.tasks.genomics.genomes.files import fasta
from gangsaw.tasks.genomics.genomes.stored import fasta_text
from gangsaw.tasks.genomics.genomes.stored.genome import open as open_by_name
from gangsaw.tasks.genomics.genomes.stored.stream import GenomeStream
from gangsaw.tasks.genomics.reads.stream.stream import ReadStream
from gangsaw.tasks.genomics.sequences.fasta import is_fasta_file

MANY = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
ASSEMBLIES = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/genomes/assemblies"
LETTERS = st.text("ACGTNacgtnRYK*-.>;", max_size=40)
DESCRIPTIONS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=9)
ENDS = ["\n", "\r\n", "\r", " ", "\t ", " \n", "\n\n", "\r\r\n"]


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """FASTA of lines of one width, some of others; blanks and ends of any kind."""
    usual, width = draw(st.sampled_from(["\n", "\r\n"])), draw(st.sampled_from([3, 7, 1000]))
    written = ""
    for number in range(draw(st.integers(1, 6))):
        head = f">r{number}{draw(st.sampled_from(['', ' ', chr(9), ' x']))}{draw(DESCRIPTIONS)}"
        written += head.replace("\n", "") + draw(st.sampled_from([usual] * 6 + ["\n", "\r\n"]))
        letters = draw(LETTERS).replace(">", "A").replace(";", "C")
        own = draw(st.sampled_from([width] * 3 + [4]))
        for at in range(0, len(letters), own):
            end = usual if draw(st.integers(0, 9)) else draw(st.sampled_from(ENDS))
            written += letters[at : at + own] + end
        written += "" if written.endswith("\n") else "\n"
    return (written.rstrip("\n") if draw(st.booleans()) else written).encode()


@MANY
@given(texts(), st.integers(1, 60))
@example(b">a", 9)
@example(b"\n>a\nAC\n", 9)
@example(b" \r\n\t\n>a x\r\nA-C\r\n*\r\n.\r\n", 3)
@example(b">a\r\n>b\r", 1)
@example(b">a\r\nAC\n>b\nAC\rG\r\n\r\r\n", 5)
@example(b">a\n\nAC GT\t\n\n>b >c\nACG\nACG\nA\n>c\nACGTT;>\n", 4)
def test_any_text_comes_back(
    tmp_path_factory: pytest.TempPathFactory, written: bytes, step: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.fa"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fasta, "STEP", step)  # lines over several pieces
        patch.setattr(fasta, "LOOK", 16)
        patch.setattr(fasta_text, "RECORDS", 2)
        patch.setattr(fasta_text, "ROWS", 3)
        patch.setattr(fasta_text, "SLAB", step)
        assert text_of_genome(genome_in_memory(path, written)) == written


def records_of(written: bytes) -> list[tuple[bytes, bytes]]:
    """Heads and residues by the definition: a head is a line that begins with >."""
    found: list[tuple[bytes, bytes]] = []
    for line in written.split(b"\n"):
        if line.startswith(b">"):
            found.append((line[1:].removesuffix(b"\r"), b""))
        else:
            found[-1] = found[-1][0], found[-1][1] + b"".join(line.split())
    return found


@MANY
@given(texts())
def test_records_are_what_lies_between_heads(
    tmp_path_factory: pytest.TempPathFactory, written: bytes
) -> None:
    stored = genome_in_memory(tmp_path_factory.getbasetemp() / "b.fa", written)
    starts = stored.starts(0, stored.n_records)
    heads = stored.heads(0, stored.n_records)[0].tobytes().split(b"\n")[:-1]
    letters = [stored.read_residues(a, b).tobytes() for a, b in pairwise(starts.tolist())]
    is_cut = written.rpartition(b"\n")[2].startswith(b">")  # its carriage return is of the name
    known = records_of(written)
    if is_cut:
        known[-1] = written.rpartition(b"\n")[2][1:], b""
    assert list(zip(heads, letters, strict=True)) == known


def test_usual_lines_cost_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_bytes(b">a\nACG\n" + b">b x\nACGTA\nCC\n>c\nACGTA\nACGTA\n>d\n")
    arrays = arrays_of(GenomeStream(str(tmp_path / "a.fa"), is_named=True))
    assert [name for name, values in arrays.items() if values.size] == [
        "sequence",
        "record_offset",
        "name",
        "name_offset",
    ]
    assert arrays["record_offset"].tolist() == [0, 3, 10, 20, 20]


@pytest.mark.parametrize(
    "wrong",
    [
        {"record_offset": [0, 9, 4]},
        {"record_offset": [0, 5, 1 << 40]},
        {"record_offset": [-4, 5, 9]},
        {"record_offset": [1, 5, 9]},
        {"record_offset": [0, 9]},
        {"name_offset": [0, 1, 4]},
        {"name_offset": [0, 2, 1 << 50]},
        {"line_length": [4, 3, 2]},
        {"line_length": [4, (1 << 64) - 1, 1]},
        {"line_count": [1, 1 << 62, 1]},
        {"line_count": [1, 0, 1]},
        {"line_end": [0, 65, 0]},
        {"line_record": [1, 0, 1]},
        {"line_record": [0, 5, 5]},
        {"line_length": [4]},
    ],
)
def test_arrays_that_do_not_go_together_are_corrupt(
    tmp_path: Path, wrong: dict[str, list[int]]
) -> None:
    (tmp_path / "a.fa").write_bytes(b">a\nACGTA\n>b\nACG\n\nC\n")
    stream = GenomeStream(str(tmp_path / "a.fa"), is_named=True)
    arrays = arrays_of(stream)
    for name, values in wrong.items():
        arrays[name] = np.array(values, arrays[name].dtype)
    with pytest.raises(CorruptChunk, match=next(iter(wrong)).split("_")[0]):
        text_of_genome(held(arrays, stream))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"@r\nACG\n+\nIII\n", r"line 1: it does not begin with > \(it is FASTQ"),
        (b"\n\nAC\n>a\nAC\n", "line 3: it does not begin with >"),
        (b" " * 5000 + b"\n>a\nAC\n", "it does not begin with >"),
        (b">a\rAC\r>b\rAC\r", "line 1 ends with CR alone"),
        (b">a\nAC\r>b\rAC\r", "line 2 ends with CR alone"),
        (b"", "holds no records: it is empty"),
        (b">a\nAC\n; x\nAC\n", "line 3: it begins with ; "),
        (b">a\nAC\n>b\nA\0C\n", "line 4: it holds a byte 0"),
        (b">a x\nAC\n>b\n\n>a y\nAC\n", "line 5: a second record is named a: rename one, or store"),
        (b">a\nAC\n> b\nAC\n", "line 3: a record has no name"),
        (
            gzip.compress(b">a\n" + bytes(range(65, 91)) * 99, mtime=0)[:-30],
            "is cut off|are damaged",
        ),
    ],
)
def test_what_is_no_genome_is_named(
    tmp_path: Path, gangsaw: CommandLine, content: bytes, problem: str
) -> None:
    (tmp_path / "a.fa").write_bytes(content)
    args = "compress", tmp_path / "a.fa", tmp_path / "a.zarr", "--format", "genome"
    line = gangsaw(*args).failed(2)
    assert re.search(problem, line), line
    assert not (tmp_path / "a.zarr").exists()


@pytest.mark.parametrize("suffix", ["fsa", "frn", "mfa", "seq", "txt", "", "FA", "data"])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_fasta_is_known_whatever_it_is_called(tmp_path: Path, suffix: str, packed: str) -> None:
    path = tmp_path / f"genome{'.' if suffix else ''}{suffix}{packed}"
    for known in (b">a b\nAC-GT\n>b\nAC\n", b"\n \n>a\r\nNNN*..\r\n", b">a\n>b\n", b">a\nA"):
        path.write_bytes(gzip.compress(known) if packed else known)
        assert find_format([str(path)]).name == "genome"


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("other", [b"> he said\nwho\n", b">a quoted mail,\nas you see\n", b"\n\n"])
def test_what_is_no_fasta_is_not_taken_for_it(tmp_path: Path, packed: str, other: bytes) -> None:
    path = tmp_path / f"a.txt{packed}"
    path.write_bytes(gzip.compress(other) if packed else other)
    assert not is_fasta_file(str(path), path.read_bytes()[:8])


def test_gaps_are_no_protein(tmp_path: Path, gangsaw: CommandLine) -> None:
    written = b"".join(b">s%d\n%s\n%s\n" % (i, b"-." * 1000, b"ACGU" * 99) for i in range(5))
    (tmp_path / "a.fa").write_bytes(written)
    gangsaw.ok("compress", tmp_path / "a.fa", tmp_path / "a.zarr")
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.fa")
    assert (tmp_path / "b.fa").read_bytes() == written


def test_text_before_the_records_is_blank_in_any_store(tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_bytes(b"\n>a\nAC\n")
    stream = GenomeStream(str(tmp_path / "a.fa"))
    arrays = arrays_of(stream)
    own: Any = stream.outcome["gangsaw_genome"]
    assert own["version"] == 2
    for wrong in ("x\n", "\n" * 5000):
        stream.outcome["gangsaw_genome"] = {**own, "before": wrong}
        with pytest.raises(BadParams, match="not blank"):
            held(arrays, stream)


def records(names: str, lengths: Iterable[int]) -> bytes:
    """FASTA of records of these lengths, numbered by a name with a place for a number."""
    return b"".join(
        f">{names.format(i)}\n{'ACGT' * (n // 4)}\n".encode() for i, n in enumerate(lengths)
    )


MANY_LENGTHS = [200 + i % 900 for i in range(1500)]


@pytest.mark.parametrize(
    ("written", "kind", "why"),
    [
        (records("k141_{}", MANY_LENGTHS), "genome", "many lengths"),
        (records("NODE_{}_length_9", [120] * 700 + MANY_LENGTHS), "genome", "many lengths"),
        (records("read{}", [152] * 1500), "fasta", "one length, 152"),
        (records("{}", [20 + i % 250 for i in range(1500)]), "fasta", "are short"),
        (records("SRR1234.{} x", MANY_LENGTHS), "fasta", "machines named"),
        (records("m64011_190830_220126/{}/ccs", MANY_LENGTHS), "fasta", "machines named"),
        (records("M1:2:F:1:11:5:{} 1:N:0", MANY_LENGTHS), "fasta", "machines named"),
        (records("gene", MANY_LENGTHS), "fasta", "names repeat"),
    ],
)
def test_many_records_are_a_genome_unless_they_look_like_reads(
    tmp_path: Path, written: bytes, kind: str, why: str
) -> None:
    path = tmp_path / "a.fa"
    path.write_bytes(written)
    assert find_format([str(path)]).name == kind
    other = "--format fasta" if kind == "genome" else "--format genome"
    stream = open_paths([str(path)])
    assert isinstance(stream, GenomeStream | ReadStream)
    for _ in stream.pieces():
        pass
    (note,) = stream.notes
    assert why in note
    assert other in note


def test_reads_say_how_records_are_found_by_name(tmp_path: Path, gangsaw: CommandLine) -> None:
    path, store = tmp_path / "a.fa", tmp_path / "a.zarr"
    path.write_bytes(records("c{}", [100] * 1000))
    said = " ".join(gangsaw.ok("compress", path, store).out.split())
    assert "stored as reads: its records have one length" in said
    assert "--format genome" in gangsaw("extract", store, "c7").failed(2)
    for wanted in (open_by_name, open_genome):
        with pytest.raises(BadParams, match=r"it holds reads.* --format genome"):
            wanted(str(store))


def test_few_or_long_records_are_a_genome(tmp_path: Path) -> None:
    def taken(name: str, written: bytes) -> str:
        (tmp_path / name).write_bytes(written)
        return find_format([str(tmp_path / name)]).name

    short = b"".join(b">%d\nACGT\n" % i for i in range(999))
    assert taken("a.fa", short) == "genome"
    assert taken("b.fa", short + b">999\nA\n") == "fasta"
    assert taken("c.fna.gz", gzip.compress(short)) == "genome"
    assert taken("d.fa.gz", gzip.compress(short + b">999\nA\n")) == "fasta"
    assert taken("e.fa", short + b">999\n" + b"ACGTACGTA\n" * (1 << 20)) == "fasta"
    assert taken("f.fa", b">a\n" + b"ACGTACGTA\n" * (1 << 20) + short * 2) == "genome"
    pair = [str(tmp_path / name) for name in ("a.fa", "b.fa")]
    assert find_format(pair).name == "fasta"


def test_a_file_goes_through_the_commands(tmp_path: Path, gangsaw: CommandLine) -> None:
    written = b">chr1 first\nACGTN\nacgtn\nAC\n>chr2\n\n>chr3\nGGGCC\nRY"
    source, store = tmp_path / "a.fa.gz", tmp_path / "a.zarr"
    source.write_bytes(gzip.compress(written))
    gangsaw.ok("compress", source, store)
    gangsaw.ok("verify", store, "--against", source)
    group = zarr.open_group(store, mode="r")
    assert group["sequence"].metadata.codecs[0].codec_name == "gangsaw.dna"  # type: ignore[union-attr]
    for name in ("out.fa", "out.fa.gz", "out"):
        gangsaw.ok("decompress", store, tmp_path / name)
        found = (tmp_path / name).read_bytes()
        assert (gzip.decompress(found) if name.endswith("gz") else found) == written
    told = gangsaw.ok("info", store, "--json").figures["genome"]
    assert (told["records"], told["residues"]) == (3, 19)
    assert told["n"] == pytest.approx(2 / 19)
    assert "1 R, 1 Y" in gangsaw.ok("info", store).out


def test_protein_is_refused_unless_it_is_meant(tmp_path: Path, gangsaw: CommandLine) -> None:
    path, store = tmp_path / "a.fa", tmp_path / "a.zarr"
    path.write_bytes(b">p\nMKVLLAQWERTYHIPSDFGHKLCVNMPQ\n")
    assert "say" not in (said := gangsaw("compress", path, store).failed(2))
    assert "--format genome --codec zstd" in said
    gangsaw.ok("compress", path, store, "--format", "genome", "--codec", "zstd")
    gangsaw.ok("decompress", store, tmp_path / "b.fa")
    assert (tmp_path / "b.fa").read_bytes() == path.read_bytes()


@pytest.mark.skipif(not ASSEMBLIES.is_dir(), reason="needs ../shared/data/genomes/assemblies")
@pytest.mark.parametrize("name", ["yeast_chrI_R64.fa.gz", "lambda_NC_001416.fa.gz"])
def test_assemblies_come_back(tmp_path: Path, name: str) -> None:
    gangsaw.compress(ASSEMBLIES / name, tmp_path / "a.zarr")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "a.fa")
    assert (tmp_path / "a.fa").read_bytes() == gzip.decompress((ASSEMBLIES / name).read_bytes())


def test_only_a_genome_is_opened(tmp_path: Path) -> None:
    zarr.create_group(tmp_path / "a.zarr").create_array("x", data=np.arange(3))
    with pytest.raises(BadParams, match="it holds no genome"):
        gangsaw.genomes.open(tmp_path / "a.zarr")
