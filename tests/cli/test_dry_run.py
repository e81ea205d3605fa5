"""--dry-run says what the job then does, and writes nothing; mistakes start no cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi

from gangsaw.cluster import kinds

USAGE = 2
Files = dict[str, bytes]


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_envi(tmp_path / "scene.hdr", cube("uint16", (3, 40, 50)))


@pytest.fixture
def genome(tmp_path: Path) -> Path:
    letters = np.random.default_rng(3).choice(list("ACGT"), 3000)
    (tmp_path / "g.fa").write_text(f">chr1\n{''.join(letters)}\n")
    return tmp_path / "g.fa"


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(config: Any) -> None:
        raise AssertionError(f"a cluster is started: {config}")

    monkeypatch.setattr(kinds, "start", start)


def contents(folder: Path) -> Files:
    """Every file and folder below, hidden ones too."""
    paths = sorted(folder.rglob("*"))
    return {str(p): p.read_bytes() if p.is_file() else b"folder" for p in paths}


def planned(gangsaw: CommandLine, folder: Path, *args: object) -> dict[str, Any]:
    """Return the plan of a command line that leaves a folder as it was."""
    before = contents(folder)
    found = gangsaw.ok(*args, "--dry-run", "--json").figures
    assert "dry run" in gangsaw.ok(*args, "--dry-run").out or args[0] != "compress"
    assert contents(folder) == before
    return found


def test_what_is_planned_is_done(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    command = ("compress", scene, tmp_path / "a.zarr", "--chunks", "y=16", "--bit-depth", "auto")
    plan = planned(gangsaw, tmp_path, *command)
    (array,) = plan["arrays"]
    gangsaw.ok(*command, "--workers", 0)
    stored = zarr.open_array(tmp_path / "a.zarr" / "data")
    codec = stored.serializer.to_dict()
    assert (array["codec"], array["parameters"]) == (codec["name"], codec["configuration"])
    assert (tuple(array["chunks"]), array["n_chunks"]) == (stored.chunks, 3)
    assert array["chunk_bytes"] == 3 * 16 * 50 * 2
    assert plan["raw_bytes"] == stored.nbytes
    assert plan["task_bytes"] == array["task_bytes"] > array["chunk_bytes"]
    assert plan["cluster"]["workers"] >= 1


def test_a_stream_is_planned_by_its_first_chunk(
    gangsaw: CommandLine, tmp_path: Path, genome: Path
) -> None:
    plan = planned(gangsaw, tmp_path, "compress", genome, tmp_path / "g.zarr")
    codecs = {array["name"]: array["codec"] for array in plan["arrays"]}
    assert codecs["sequence"] == "gangsaw.dna"
    assert plan["cluster"]["place"] == "here"


def test_stages_are_told(gangsaw: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "r.fastq").write_text("@a\nACGT\n+\nIIII\n" * 9)
    command = ("compress", tmp_path / "r.fastq", tmp_path / "r.zarr", "--order", "bins")
    assert "after the stage" in planned(gangsaw, tmp_path, *command)["notes"][0]


def test_other_commands(gangsaw: CommandLine, tmp_path: Path, scene: Path, genome: Path) -> None:
    gangsaw.ok("compress", genome, tmp_path / "g.zarr", "--workers", 0)
    gangsaw.ok("compress", scene, tmp_path / "a.zarr", "--workers", 0)
    out = tmp_path / "b.nc"
    plan = planned(gangsaw, tmp_path, "decompress", tmp_path / "a.zarr", out, "--accept-loss")
    assert (plan["format"], plan["targets"]) == ("NetCDF", [str(out)])
    again = planned(gangsaw, tmp_path, "decompress", tmp_path / "a.zarr", tmp_path / "c.zarr")
    assert (again["format"], again["arrays"][0]["codec"]) == ("Zarr", "none")
    (index,) = planned(gangsaw, tmp_path, "index", tmp_path / "g.zarr")["arrays"]
    assert index["name"] == "sequence"
    hits = tmp_path / "hits.paf"
    align = ("align", genome, tmp_path / "g.zarr", hits)
    assert planned(gangsaw, tmp_path, *align)["targets"] == [str(hits)]
    bins = tmp_path / "a.zarr"
    line = gangsaw("decompress", bins, scene, "--accept-loss", "--dry-run").failed(USAGE)
    assert "exists" in line


# a kind of mistake each, with workers that would be started for it
MISTAKES = {
    "codec": ("compress {scene} {new} --codec jpeg", "--codec must be"),
    "parameter": ("compress {scene} {new} --codec ccsds123 --param nope=1", "unknown parameter"),
    "value": ("compress {scene} {new} --param prediction_bands=99", "must be in 0..15"),
    "option": ("compress {scene} {new} --effort fast", "no array has --effort"),
    "stages": ("compress {reads} {new} --order bins --param nope=1", "unknown parameter"),
    "pipe": ("compress - {new} --param nope=1", "unknown parameter"),
    "pipe's value": (
        "compress - {new} --format genome --codec dna --param mode=nope",
        "mode must be",
    ),
    "pipe's chunks": ("compress - {new} --chunks t=3", "has no axis"),
    "pipe's target": ("compress - {store}", "exists: give another name"),
    "stream": ("compress {genome} {new} --codec dna --param nope=1", "unknown parameter"),
    "scan": ("compress {scene} {store} --bit-depth auto", "exists: give another name"),
    "chunks": ("compress {scene} {new} --chunks t=3", "has no axis"),
    "target": ("compress {scene} {store}", "exists: give another name"),
    "source": ("compress {none} {new}", "no such file"),
    "format": ("compress {scene} {new} --format jpeg", "--format must be"),
    "kind": ("compress {scene} {new} --cluster cloud", "--cluster must be local"),
    "device": ("compress {scene} {new} --device tpu", "--device must be cpu or gpu"),
    "export": ("decompress {store} {scene} --accept-loss", "exists"),
    "suffix": ("decompress {store} {new}.xyz", "of no format"),
    "store": ("decompress {none} {new}.hdr", "no"),
    "verify": ("verify {none}", "no such store"),
    "against": ("verify {store} --against {none}", "no such file"),
    "index": ("index {none}", "no"),
    "variable": ("index {store} --variable nope", "no array of bytes"),
    "search": ("search {store} ACGT", "holds no text"),
    "no index": ("search {dna} ACGT", "make one by gangsaw index"),
    "align": ("align {none} {store} {new}.paf", "no"),
    "genome": ("align {genome} {store} {new}.paf", "genome"),
    "hits": ("align {genome} {dna} {genome} --format paf", "exists"),
    "share": ("tcr share {none} {new}.parquet", "no"),
    "count": ("tcr count {none} {new} --species human", "no"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_no_cluster_is_started_for_a_mistake(
    gangsaw: CommandLine,
    tmp_path: Path,
    scene: Path,
    genome: Path,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, dna = tmp_path / "old.zarr", tmp_path / "dna.zarr"
    line, said = MISTAKES[kind]
    if "{store}" in line:
        gangsaw.ok("compress", scene, store, "--workers", 0)
    if "{dna}" in line:
        gangsaw.ok("compress", genome, dna, "--workers", 0)
    reads = tmp_path / "r.fastq"
    reads.write_text("@a\nACGT\n+\nIIII\n" * 9)
    paths = {"reads": reads, "scene": scene, "genome": genome, "store": store, "dna": dna}
    words = line.format(**paths, new=tmp_path / "new", none=tmp_path / "none.hdr").split(" ")
    before = contents(tmp_path)
    with (genome if "dna" in words else reads).open() as file:
        monkeypatch.setattr("sys.stdin", file)
        ran = gangsaw(*words, "--workers", 2)
    assert said in ran.failed(ran.code), ran
    assert ran.code in (1, USAGE)
    assert contents(tmp_path) == before


def test_without_a_mistake_one_is(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    line = gangsaw("compress", scene, tmp_path / "a.zarr", "--workers", 2).failed(1)
    assert "a cluster is started" in line


@pytest.mark.parametrize(
    ("workers", "said"),
    [(500, "--workers 500: this machine has"), (-1, "--workers")],
)
def test_too_many_workers(
    gangsaw: CommandLine, tmp_path: Path, scene: Path, workers: int, said: str
) -> None:
    line = gangsaw("compress", scene, tmp_path / "a.zarr", "--workers", workers).failed(USAGE)
    assert said in line


def test_workers_that_have_no_memory(
    gangsaw: CommandLine, tmp_path: Path, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gangsaw.tasks.engine.scheduling import memory

    little = {"name": "of this machine", "memory_limit": 1 << 30, "nthreads": 1}
    monkeypatch.setattr(memory, "describe_this_process", lambda: little)
    line = gangsaw("compress", scene, tmp_path / "a.zarr", "--workers", 4).failed(USAGE)
    assert "memory for 2: set 2 or fewer; --oversubscribe" in line


def test_workers_of_other_machines_are_not_counted(
    gangsaw: CommandLine, tmp_path: Path, scene: Path
) -> None:
    command = ("compress", scene, tmp_path / "a.zarr", "--workers", 500, "--dry-run", "--json")
    assert gangsaw.ok(*command, "--cluster", "slurm").figures["cluster"]["place"] == "slurm"
    assert gangsaw.ok(*command, "--oversubscribe").figures["cluster"]["workers"] == 500
