"""Sources that are pipes, for every command that reads reads, tables or text: read once, whole."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers import tcr_runs, tcr_tables
from helpers.align_files import small_genome, write_fasta
from helpers.command_line import CommandLine

Piped = Callable[[str, bytes], str]  # how, and what: the path to read
WAYS = ("fifo", "descriptor", "stdin")
N = 200
RUN = "import sys; from gangsaw.cli import main; sys.exit(main())"


def send(descriptor: int | Path, data: bytes) -> None:
    with open(descriptor, "wb") as file:  # noqa: PTH123 (a descriptor has no path)
        file.write(data)


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Piped]:
    """Return a FIFO, a process substitution's path, or "-"; another thread writes."""
    opened = []

    def pipe(way: str, data: bytes) -> str:
        if way == "fifo":
            path = tmp_path / f"fifo{len(list(tmp_path.glob('fifo*')))}"
            os.mkfifo(path)
            threading.Thread(target=send, args=(path, data), daemon=True).start()
            return str(path)
        reader, writer = os.pipe()
        threading.Thread(target=send, args=(writer, data), daemon=True).start()
        opened.append(reader)
        if way == "descriptor":
            return f"/dev/fd/{reader}"
        monkeypatch.setattr(sys, "stdin", os.fdopen(reader, closefd=False))
        return "-"

    yield pipe
    for reader in opened:
        os.close(reader)


def fastq(first: int = 0, n: int = N) -> bytes:
    """Reads of the small genome."""
    text = small_genome()["chr1"]
    rows = [
        f"@q{i}\n{text[i * 25 : i * 25 + 100]}\n+\n{'I' * 100}\n" for i in range(first, first + n)
    ]
    return "".join(rows).encode()


@pytest.fixture(scope="module")
def genome(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from gangsaw import compress

    folder = tmp_path_factory.mktemp("genome")
    write_fasta(folder / "g.fa", small_genome())
    compress(folder / "g.fa", folder / "g.zarr", format="genome")
    return folder / "g.zarr"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("way", WAYS)
def test_align(
    gangsaw: CommandLine,
    piped: Piped,
    genome: Path,
    tmp_path: Path,
    way: str,
    pack: Callable[..., bytes],
) -> None:
    gangsaw.ok("align", piped(way, pack(fastq())), genome, tmp_path / "o.paf", "--quiet")
    (tmp_path / "q.fastq").write_bytes(fastq())
    gangsaw.ok("align", tmp_path / "q.fastq", genome, tmp_path / "file.paf", "--quiet")
    lines = (tmp_path / "o.paf").read_bytes().splitlines()
    assert lines == (tmp_path / "file.paf").read_bytes().splitlines()
    assert len({line.split(b"\t")[0] for line in lines}) == N


@pytest.mark.full
def test_align_of_mates_that_one_process_writes_by_turns(
    gangsaw: CommandLine, genome: Path, tmp_path: Path
) -> None:
    """More than a pipe holds goes to one, then to the other: both must be read at once."""
    paths = [tmp_path / "1", tmp_path / "2"]
    for path in paths:
        os.mkfifo(path)

    def write() -> None:
        with paths[0].open("wb") as one, paths[1].open("wb") as two:
            for _ in range(10):
                one.write(fastq())
                two.write(fastq())

    threading.Thread(target=write, daemon=True).start()
    gangsaw.ok("align", *paths, genome, tmp_path / "o.sam", "--pairs", "files", "--quiet")
    assert (tmp_path / "o.sam").read_bytes().count(b"\nq") >= 20 * N


def test_what_reads_a_pipe_is_not_resumed(
    gangsaw: CommandLine, piped: Piped, genome: Path, tmp_path: Path
) -> None:
    path = piped("fifo", b"")
    line = gangsaw("align", path, genome, tmp_path / "o.paf", "--resume").failed(2)
    assert path in line
    assert "read once" in line
    Path(path).open("rb").close()  # the thread that writes


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("fastq", fastq()),
        ("text", fastq()),
        ("fasta", b">a\nACGT\n>b\nAA\n"),
        ("genome", b">a\nACGT\n"),
    ],
)
def test_compress_and_verify(
    gangsaw: CommandLine, piped: Piped, tmp_path: Path, kind: str, data: bytes, way: str
) -> None:
    store = tmp_path / "s.zarr"
    gangsaw.ok("compress", piped(way, data), store, "--format", kind, "--quiet")
    gangsaw.ok("verify", store, "--against", piped(way, data), "--format", kind, "--quiet")
    wrong = data.replace(b"A", b"C", 1) if kind != "text" else data + b"x"
    found = gangsaw("verify", store, "--against", piped(way, wrong), "--format", kind, "--quiet")
    assert found.code == 1
    gangsaw.ok("decompress", store, tmp_path / "back", "--format", kind, "--quiet")
    assert (tmp_path / "back").read_bytes() == data


@pytest.mark.full
@pytest.mark.parametrize("way", WAYS)
def test_verify_of_reads_in_another_order(
    gangsaw: CommandLine, piped: Piped, tmp_path: Path, way: str
) -> None:
    store = tmp_path / "s.zarr"
    gangsaw.ok("compress", piped(way, fastq()), store, "--order", "bins", "--quiet")
    gangsaw.ok("verify", store, "--against", piped(way, fastq()), "--quiet")
    assert gangsaw("verify", store, "--against", piped(way, fastq(1)), "--quiet").code == 1


@pytest.mark.parametrize("way", WAYS)
def test_bin(gangsaw: CommandLine, piped: Piped, tmp_path: Path, way: str) -> None:
    gangsaw.ok("bin", piped(way, fastq()), tmp_path / "o.fastq", "--quiet")
    assert sorted((tmp_path / "o.fastq").read_bytes().split(b"@q")) == sorted(fastq().split(b"@q"))


@pytest.mark.parametrize("way", WAYS)
def test_bam(gangsaw: CommandLine, piped: Piped, tmp_path: Path, way: str) -> None:
    pytest.importorskip("pysam", reason="the extra bam is not installed")
    (tmp_path / "a.fastq").write_bytes(fastq())
    gangsaw.ok("compress", tmp_path / "a.fastq", tmp_path / "a.zarr", "--quiet")
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "a.bam", "--format", "bam", "--quiet")
    bam = (tmp_path / "a.bam").read_bytes()
    gangsaw.ok("compress", piped(way, bam), tmp_path / "b.zarr", "--format", "bam", "--quiet")
    against = ("--against", piped(way, bam), "--format", "bam")
    gangsaw.ok("verify", tmp_path / "b.zarr", *against, "--quiet")
    gangsaw.ok("decompress", tmp_path / "b.zarr", tmp_path / "b.fastq", "--format", "fastq")
    assert (tmp_path / "b.fastq").read_bytes() == fastq()


@pytest.mark.full
@pytest.mark.parametrize("way", WAYS)
def test_append(gangsaw: CommandLine, piped: Piped, tmp_path: Path, way: str) -> None:
    for name, seed in (("a", 0), ("b", 1)):
        text = "".join(np.random.default_rng(seed).choice(list("ACGT"), 5000))
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{text}\n")
    store = tmp_path / "s.zarr"
    gangsaw.ok("compress", tmp_path / "a.fa", store, "--collection", "yes", "--quiet")
    path = piped(way, gzip.compress((tmp_path / "b.fa").read_bytes()))
    gangsaw.ok("append", path, store, "--quiet")
    name = "stdin" if path == "-" else Path(path).name
    gangsaw.ok("decompress", store, tmp_path / "back.fa", "--sample", name, "--quiet")
    assert (tmp_path / "back.fa").read_bytes() == (tmp_path / "b.fa").read_bytes()


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("way", WAYS)
def test_search(gangsaw: CommandLine, piped: Piped, tmp_path: Path, way: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\nthree\n" * 50)
    gangsaw.ok("compress", tmp_path / "a.txt", tmp_path / "a.zarr", "--quiet")
    gangsaw.ok("index", tmp_path / "a.zarr", "--quiet")
    for data in (b"two\nthree\n", gzip.compress(b"two\nthree\n")):
        ran = gangsaw("search", tmp_path / "a.zarr", "-f", piped(way, data), "--count-matches")
        assert ran.code == 0, ran
        assert ran.out.count("50") == 2


@pytest.mark.parametrize("way", WAYS)
def test_tcr_count_and_share(gangsaw: CommandLine, piped: Piped, tmp_path: Path, way: str) -> None:
    tcr_runs.germline()  # skips where olga is missing
    table = tcr_tables.airr(tcr_runs.records(40)).encode()
    (tmp_path / "m.tsv").write_bytes(table)
    stores = [tmp_path / "piped.zarr", tmp_path / "file.zarr"]
    sources = [piped(way, gzip.compress(table)), str(tmp_path / "m.tsv")]
    for source, store in zip(sources, stores, strict=True):
        command = ("tcr", "count", source, store, "--species", "human", "--model", "dp1")
        gangsaw.ok(
            *command, "--workers", "0", "--quiet", "--keep-out-of-frame", "--keep-unproductive"
        )
    for store in stores:
        gangsaw.ok(
            "tcr", "export", store, store.with_suffix(".csv"), "--variable", "cdr3", "--quiet"
        )
    texts = [store.with_suffix(".csv").read_bytes() for store in stores]
    assert texts[0] == texts[1]
    assert texts[0].count(b"\n") == 41
    name = "stdin" if sources[0] == "-" else Path(sources[0]).name
    owners = f"sample\tindividual\n{name}\tone\nm\ttwo\n".encode()
    shared = tmp_path / "shared.parquet"
    people = ("--individuals", piped(way, owners))
    ran = gangsaw.ok("tcr", "share", *stores, shared, *people, "--json")
    assert ran.figures["individuals"] == 2
    pytest.importorskip("sklearn", reason="the extra tcr is not installed")
    gangsaw.ok("tcr", "associate", *stores, piped(way, shared.read_bytes()), "--json")


def gene_text() -> bytes:
    v = "GAAGAAGAA" * 7 + "TATTTCTGTGCCAGCAGC"
    d, j = "GGGACAGGGGGC", "AACACTGAAGCTTTCTTTGGACAAGGCACC"
    return f">TRBV1*01\n{v}\n>TRBD1*01\n{d}\n>TRBJ1-1*01\n{j}\n".encode()


@pytest.mark.parametrize("way", WAYS)
def test_germline(gangsaw: CommandLine, piped: Piped, tmp_path: Path, way: str) -> None:
    (tmp_path / "g.fa").write_bytes(gene_text())
    wanted = gangsaw.ok("tcr", "germline", tmp_path / "g.fa", "--json").figures
    found = gangsaw.ok("tcr", "germline", piped(way, gzip.compress(gene_text())), "--json").figures
    assert [found[part] for part in "vdj"] == [wanted[part] for part in "vdj"]


@pytest.mark.parametrize("way", WAYS)
def test_tcr_annotate(gangsaw: CommandLine, piped: Piped, tmp_path: Path, way: str) -> None:
    (tmp_path / "g.fa").write_bytes(gene_text())
    genes = ("--germline", tmp_path / "g.fa")
    made = ("tcr", "simulate", tmp_path / "t.tsv", "-n", "60", *genes, "--reads", tmp_path / "r")
    gangsaw.ok(*made, "--depth", "3", "--insert", "150", "--quiet")
    mates = [(tmp_path / f"r_{i}.fastq.gz").read_bytes() for i in (1, 2)]
    files = [tmp_path / f"r_{i}.fastq.gz" for i in (1, 2)]
    gangsaw.ok("tcr", "annotate", *files, tmp_path / "f.tsv", *genes, "--quiet")
    second = piped("descriptor" if way == "stdin" else way, mates[1])
    piped_genes = ("--germline", piped("fifo", gene_text()))
    both = (piped(way, mates[0]), second)
    gangsaw.ok("tcr", "annotate", *both, tmp_path / "p.tsv", *piped_genes, "--quiet")
    assert (tmp_path / "p.tsv").read_bytes() == (tmp_path / "f.tsv").read_bytes()
    assert (tmp_path / "p.tsv").read_bytes().count(b"\n") > 5


def test_one_pipe_is_not_named_twice(gangsaw: CommandLine, tmp_path: Path, piped: Piped) -> None:
    path = piped("descriptor", b">a\nACGT\n")
    line = gangsaw("compress", path, path, tmp_path / "s.zarr", "--format", "collection").failed(2)
    assert "named twice" in line


def test_standard_input_by_the_shell(genome: Path, tmp_path: Path) -> None:
    """A real process, whose standard input is a pipe: by /dev/stdin and by -."""
    for name in ("/dev/stdin", "-"):
        command = [sys.executable, "-c", RUN, "align", name, genome, "-"]
        ran = subprocess.run(command, input=fastq(), capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr
        assert len({line.split(b"\t")[0] for line in ran.stdout.splitlines()}) == N
