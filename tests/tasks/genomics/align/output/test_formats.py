"""SAM as pysam reads it, and the table of BLAST, of the same hits as PAF."""

from __future__ import annotations

import gzip
import shlex
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from helpers.align_files import lines_of, mutated, small_genome, write_fasta
from helpers.command_line import CommandLine
from reference.search import reverse_complement

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.api import functions
from gangsaw.tasks.genomics.align.job.job import AlignChoice, AlignCuts, align_job
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.sets.scores import Scores

GENOME = small_genome()
ONE, TWO = GENOME["chr1"], GENOME["chr2"]
QUERIES = {
    "plain": ONE[3000:3200],
    "turned": reverse_complement(ONE[4000:4100] + ONE[4105:4200]),
    "repeat": ONE[1050:1200],
    "both": TWO[100:300] + ONE[7000:7150],
    "none": "ACGT" * 9,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    path = write_fasta(folder / "genome.fa", GENOME)
    functions.compress(str(path), str(folder / "genome.zarr"), format="genome")
    queries = folder / "queries.fq"
    records = (f"@{q} more\n{t}\n+\n{'5' * (len(t) - 1)}I\n" for q, t in QUERIES.items())
    queries.write_text("".join(records))
    for end in ("paf", "sam", "tsv"):
        align_job([str(queries)], str(folder / "genome.zarr"), str(folder / f"hits.{end}"))
    return folder


def test_sam_says_what_paf_says(folder: Path) -> None:
    pysam = pytest.importorskip("pysam")
    with pysam.AlignmentFile(folder / "hits.sam") as file:
        found = list(file)
        assert dict(zip(file.references, file.lengths, strict=True)) == {
            name: len(text) for name, text in GENOME.items()
        }
    paf = lines_of((folder / "hits.paf").read_text())
    mapped = [read for read in found if not read.is_unmapped]
    assert len(mapped) == len(paf)
    for read, line in zip(mapped, paf, strict=True):
        assert (read.query_name, read.reference_name) == (line.query, line.record)
        assert (read.reference_start, read.reference_end) == (line.there, line.there_end)
        assert read.is_reverse == (line.strand == "-")
        assert (read.mapping_quality, read.get_tag("AS")) == (line.quality, line.score)
        assert read.infer_read_length() == line.size
    flags = [(read.query_name, read.flag) for read in found]
    assert flags == [
        *(("plain", 0), ("turned", 16), ("repeat", 0), ("repeat", 272)),
        *(("both", 0), ("both", 2048), ("none", 4)),
    ]


def test_sam_has_letters_of_the_genome_and_other_parts(folder: Path, tmp_path: Path) -> None:
    pysam = pytest.importorskip("pysam")
    rng = np.random.default_rng(4)
    queries = {
        f"q{i}": mutated(rng, ONE[at : at + 900], 0.05, 0.02) for i, at in enumerate((0, 900, 5000))
    }
    queries["turned"] = reverse_complement(queries["q1"])
    queries["parts"] = TWO[100:300] + reverse_complement(ONE[7000:7150])
    path = write_fasta(tmp_path / "q.fa", queries)
    for params in (SearchParams(), SearchParams(eqx=True)):
        choice = AlignChoice(overwrite=True, cuts=AlignCuts(part_letters=1500, overlap=600))
        out = tmp_path / "o.sam"
        align_job([str(path)], str(folder / "genome.zarr"), str(out), params, choice=choice)
        with pysam.AlignmentFile(out) as file:
            found, program = list(file), file.header.to_dict()["PG"][0]
        assert program["VN"] == version("gangsaw")
        assert ("--eqx" in program["CL"]) == params.eqx
        assert program["CL"].startswith("gangsaw align --format=sam ")
        assert len(found) >= len(queries) + 1
        for read in found:
            own = GENOME[read.reference_name][read.reference_start : read.reference_end]
            assert read.get_reference_sequence().upper() == own
            assert ("M" in read.cigarstring) != params.eqx
        first, second = [read for read in found if read.query_name == "parts"]
        for read, other in ((first, second), (second, first)):
            record, place, strand, cigar, quality, edits = read.get_tag("SA")[:-1].split(",")
            assert (record, int(place)) == (other.reference_name, other.reference_start + 1)
            assert (strand == "-") == other.is_reverse
            assert cigar == other.cigarstring.replace("H", "S")
            assert (int(quality), int(edits)) == (other.mapping_quality, other.get_tag("NM"))


def test_the_command_of_sam_writes_it_again(
    folder: Path, tmp_path: Path, gangsaw: CommandLine
) -> None:
    own = str(folder / "queries.fq"), str(folder / "genome.zarr"), str(tmp_path / "o.sam")
    params = SearchParams(Scores(1, -4, 6, 1), min_score=50, eqx=True)
    align_job([own[0]], own[1], own[2], params)
    text = (tmp_path / "o.sam").read_text()
    command = text.split("CL:")[1].splitlines()[0]
    assert shlex.split(command)[-1] == own[2]
    (tmp_path / "o.sam").unlink()
    gangsaw.ok(*shlex.split(command)[1:])
    assert (tmp_path / "o.sam").read_text() == text


def test_sam_has_the_letters_of_the_strand(folder: Path) -> None:
    pysam = pytest.importorskip("pysam")
    with pysam.AlignmentFile(folder / "hits.sam") as file:
        found = {(read.query_name, read.flag): read for read in file}
    turned = found["turned", 16]
    assert turned.query_sequence == reverse_complement(QUERIES["turned"])
    assert turned.qual[0] == "I"
    assert found["repeat", 272].query_sequence is None
    other = found["both", 2048]
    assert other.cigartuples[0][0] == 5  # hard
    assert other.query_sequence in QUERIES["both"]
    assert found["none", 4].query_sequence == QUERIES["none"]


def test_the_table_of_blast(folder: Path) -> None:
    rows = [line.split("\t") for line in (folder / "hits.tsv").read_text().splitlines()]
    paf = lines_of((folder / "hits.paf").read_text())
    assert {len(row) for row in rows} == {12}
    for row, line in zip(rows, paf, strict=True):
        assert row[:2] == [line.query, line.record]
        assert float(row[2]) == pytest.approx(100 * line.equal / line.columns, abs=1e-3)
        assert int(row[3]) == line.columns
        assert [int(row[6]), int(row[7])] == [line.begin + 1, line.end]
        ends = [line.there + 1, line.there_end]
        assert [int(row[8]), int(row[9])] == (ends if line.strand == "+" else ends[::-1])
        assert float(row[10]) < 1e-20
    assert rows[1][5] == "1"  # gap


def test_sam_complements_letters_of_several_bases(folder: Path, tmp_path: Path) -> None:
    """R pairs with Y: the line has the letters of the genome's strand."""
    turned = reverse_complement(ONE[4000:4200])
    queries = write_fasta(tmp_path / "query.fa", {"odd": f"{turned[:50]}R{turned[51:]}"})
    align_job([str(queries)], str(folder / "genome.zarr"), str(tmp_path / "hits.sam"))
    line = (tmp_path / "hits.sam").read_text().splitlines()[-1].split("\t")
    assert (line[1], line[9]) == ("16", f"{ONE[4000:4149]}Y{ONE[4150:4200]}")


def test_bam_holds_what_sam_says(folder: Path, tmp_path: Path) -> None:
    pysam = pytest.importorskip("pysam")
    own, genome = [str(folder / "queries.fq")], str(folder / "genome.zarr")
    choice = AlignChoice(cuts=AlignCuts(batch_bytes=300))
    params = SearchParams(read_group=r"@RG\tID:lane 1\tSM:me")
    found = []
    for end in ("sam", "bam"):
        align_job(own, genome, str(tmp_path / f"o.{end}"), params, choice=choice)
        with pysam.AlignmentFile(tmp_path / f"o.{end}", check_sq=False) as file:
            header = file.header.to_dict()
            found.append([read.to_string() for read in file])
        assert header["RG"] == [{"ID": "lane 1", "SM": "me"}]
        assert header["PG"][0]["ID"] == "gangsaw"
    assert found[0] == found[1]
    assert len(found[0]) == 7
    assert all("RG:Z:lane 1" in line for line in found[0])
    pysam.quickcheck(str(tmp_path / "o.bam"))


@pytest.mark.parametrize("end", ["paf", "sam", "tsv"])
def test_lines_are_packed(folder: Path, tmp_path: Path, end: str) -> None:
    own, genome = [str(folder / "queries.fq")], str(folder / "genome.zarr")
    choice = AlignChoice(cuts=AlignCuts(batch_bytes=300))
    align_job(own, genome, str(tmp_path / f"hits.{end}.gz"), choice=choice)
    plain = (folder / f"hits.{end}").read_text().splitlines()
    text = gzip.decompress((tmp_path / f"hits.{end}.gz").read_bytes()).decode().splitlines()
    assert [x for x in text if x[:3] != "@PG"] == [x for x in plain if x[:3] != "@PG"]


@pytest.mark.parametrize("text", ["ID:x", r"@RG\tSM:y", r"@RG\tID:", r"@RG\tID:a\tID:b"])
def test_read_groups_that_are_none(folder: Path, tmp_path: Path, text: str) -> None:
    own, genome = [str(folder / "queries.fq")], str(folder / "genome.zarr")
    with pytest.raises(BadParams, match="--read-group must be such as"):
        align_job(own, genome, str(tmp_path / "o.sam"), SearchParams(read_group=text))
    with pytest.raises(BadParams, match="read groups are of SAM and BAM, not of paf"):
        align_job(own, genome, str(tmp_path / "o.paf"), SearchParams(read_group=r"@RG\tID:x"))
