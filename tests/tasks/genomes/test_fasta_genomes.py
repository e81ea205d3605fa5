"""FASTA of genomes into stores and back: the same text, or one clear line."""

from __future__ import annotations

import gzip
import os
import re
from itertools import pairwise
from pathlib import Path

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
from gangsaw.tasks.formats.opening import find_format
from gangsaw.tasks.genomes import fasta, text
from gangsaw.tasks.genomes.stream import GenomeStream

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
        patch.setattr(text, "RECORDS", 2)
        patch.setattr(text, "ROWS", 3)
        patch.setattr(text, "SLAB", step)
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
    letters = [stored.letters(a, b).tobytes() for a, b in pairwise(starts.tolist())]
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
        (b"\n>a\nAC\n", "line 1: it does not begin with >"),
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
