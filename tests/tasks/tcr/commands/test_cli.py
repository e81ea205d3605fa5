"""gangsaw tcr count: what users see."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
import xarray as xr
from helpers.command_line import CommandLine
from helpers.hang import HANG, wait_until
from helpers.tcr_runs import records, written

from gangsaw.tasks.tcr.store import reading

USAGE = 2
HERE = ("--workers", 0)
HUMAN = ("--species", "human", "--chunk", 64)
ALL = ("--keep-out-of-frame", "--keep-unproductive")


def test_figures(gangsaw: CommandLine, tmp_path: Path) -> None:
    paths = [written(tmp_path, name, records(90, seed, name)) for seed, name in enumerate("ab")]
    target = tmp_path / "o.zarr"
    ran = gangsaw.ok("tcr", "count", *paths, target, *HUMAN, *ALL, *HERE, "--json")
    assert (ran.figures["files"], ran.figures["rows"], ran.figures["kept"]) == (2, 180, 180)
    assert ran.figures["table"] == str(tmp_path / "o.dropped.tsv")
    assert ran.figures["run"]["references_per_second"] > 0
    data = xr.open_zarr(target, chunks=None)
    assert data.sizes["reference"] == 180
    assert data.cdr3.encoding["chunks"] == (64,)


@pytest.mark.full
def test_the_table_lists_reasons(gangsaw: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "a", records(90))
    ran = gangsaw.ok("tcr", "count", path, tmp_path / "o.zarr", *HUMAN, *HERE)
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "rows read 90 of 1 samples" in lines
    assert any(line.startswith("out of frame ") for line in lines)
    assert any(line.endswith("references/s") for line in lines)


def test_rows_that_are_there_twice_are_told(
    gangsaw: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = records(8)
    path = written(tmp_path, "a", [*rows, rows[0], rows[3], rows[3], *records(3, 1, "other")])
    other = written(tmp_path, "b", rows)  # names are of one file
    asked = (*HUMAN, *HERE, *ALL, "--json")
    ran = gangsaw.ok("tcr", "count", path, other, tmp_path / "o.zarr", *asked)
    note = "with the name of a row before them, which count once more"
    assert ran.figures["notes"] == [f"{path}: rows {note}: 3"]
    assert ran.figures["kept"] == 22
    monkeypatch.setattr(reading, "MOST_IDS", 4)
    ran = gangsaw.ok("tcr", "count", path, tmp_path / "p.zarr", *asked)
    assert ran.figures["notes"] == []  # too many names to compare


@pytest.mark.full
def test_rows_without_copies_are_told(gangsaw: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "a", records(6))
    head, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    at = head.split("\t").index("duplicate_count")
    parts = [line.split("\t") for line in lines]
    for part, text in zip(parts, ["", "NA", "NaN", "1", "2", "3"], strict=True):
        part[at] = text
    path.write_text("\n".join([head, *("\t".join(part) for part in parts), ""]))
    ran = gangsaw.ok("tcr", "count", path, tmp_path / "o.zarr", *HUMAN, *HERE, *ALL, "--json")
    note = "rows that name no number of copies count as one copy: 3"
    assert ran.figures["notes"] == [f"{path}: {note}"]
    assert xr.open_zarr(tmp_path / "o.zarr")["copies"].values.tolist() == [1, 1, 1, 1, 2, 3]
    table = gangsaw.ok("tcr", "count", path, tmp_path / "p.zarr", *HUMAN, *HERE, *ALL)
    assert "name no number of copies" in " ".join(table.out.split())
    whole = written(tmp_path, "b", records(6))
    ran = gangsaw.ok("tcr", "count", whole, tmp_path / "q.zarr", *HUMAN, *HERE, *ALL, "--json")
    assert ran.figures["notes"] == []


def test_options_reach_the_store(gangsaw: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path, "a", records(60))
    options = ("--model", "dp2", "--strands", 2, "--max-p", 3, "--max-n", 5, "--max-length", 45)
    table = tmp_path / "left.tsv"
    ran = gangsaw.ok(
        *("tcr", "count", path, tmp_path / "o.zarr", *HUMAN, *HERE, *ALL, *options),
        *("--dropped", table, "--ambiguous", "first", "--sample-column", "sequence_id", "--json"),
    )
    data = xr.open_zarr(tmp_path / "o.zarr", chunks=None)
    assert tuple(data.sizes[dim] for dim in ("n_nucleotides", "p_nucleotides", "sample")) == (
        6,
        4,
        60,
    )
    wanted = {"model": "dp2", "strands": 2, "max_p": 3, "max_n": 5, "limit_longest": 45}
    assert {name: data.attrs[name] for name in wanted} == wanted
    assert data.attrs["ambiguous_calls"] == "first"
    assert "dp1_paths" not in data
    assert table.read_text().count("too long") == ran.figures["dropped"]["too long"]


@pytest.mark.full
@pytest.mark.parametrize("strands", [1, 2])
def test_counts_without_limits(gangsaw: CommandLine, tmp_path: Path, strands: int) -> None:
    """The usual limits are counted as ever, and all beside them; what reads stores takes them."""
    path, few, store = written(tmp_path, "a", records(30)), tmp_path / "few", tmp_path / "all"
    model = ("--model", "dp2", "--strands", strands)
    gangsaw.ok("tcr", "count", path, few, *HUMAN, *HERE, *ALL, *model, "--dropped", tmp_path / "x")
    limits = ("--max-p", "all", "--max-n", "all")
    gangsaw.ok("tcr", "count", path, store, *HUMAN, *HERE, *ALL, *model, *limits)
    usual, data = (xr.open_zarr(one, chunks=None) for one in (few, store))
    assert data.n_nucleotides.values.tolist() == [*range(11), 255]
    assert data.p_nucleotides.values.tolist() == [*range(5), 255]
    for name in ("paths_full", "paths_zero_length_d", "paths_no_d", "paths_total"):
        part = data[name].sel(n_nucleotides=usual.n_nucleotides, p_nucleotides=usual.p_nucleotides)
        np.testing.assert_array_equal(part.values, usual[name].values)
        assert (data[name][..., -1, -1] >= data[name][..., -2, -2]).all()
    assert (data.paths_total[..., -1, -1] > 0).all()
    assert gangsaw.ok("verify", store)
    assert "n_nucleotides" in gangsaw.ok("info", store).out
    table = tmp_path / "t.tsv"
    gangsaw.ok(
        *("tcr", "export", store, table, "--nu", 255, "--pi", 4, "--pi", 255),
        *("--variable", "paths_total"),
    )
    assert table.read_text().splitlines()[0].split() == [
        f"paths_total_nu255_pi{pi}" for pi in (4, 255)
    ]
    refused = gangsaw("tcr", "export", store, tmp_path / "u.tsv", "--nu", 11).failed(USAGE)
    assert "nu must be in 0..10, 255" in refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-n", "many"), "neither a number nor all"),
        (("--max-p", 256), "max_p must be in 0..255"),
        (("--model", "dp3"), "model must be dp1, dp2 or both"),
        (("--ambiguous", "any"), "--ambiguous must be drop or first"),
        (("--codons", "x"), "--codons must be cys, both or any"),
        (("--locus", "TRX"), "locus must be TRA, TRB"),
        (("--column", "junction"), "--column must be ROLE=NAME"),
        (("--column", "junction=nt"), "nt"),
        (("--d-segments", 2), "dp2 only"),
        (("--germline", "none.fasta"), "none.fasta"),
        (("--strands", 3), "--strands"),
        (("--device", "tpu"), "device must be cpu or gpu"),
    ],
)
def test_wrong_options(
    gangsaw: CommandLine, tmp_path: Path, options: tuple[object, ...], said: str
) -> None:
    path = written(tmp_path, "a", records(3))
    before = sorted(tmp_path.iterdir())
    line = gangsaw("tcr", "count", path, tmp_path / "o.zarr", *HUMAN, *HERE, *options)
    assert said in line.failed(USAGE)
    assert sorted(tmp_path.iterdir()) == before


def test_wrong_files(gangsaw: CommandLine, tmp_path: Path) -> None:
    path, words = written(tmp_path, "a", records(3)), tmp_path / "words.tsv"
    words.write_text("some words\nof no table\n")
    target = tmp_path / "o.zarr"
    for wrong, said in (("absent.tsv", "no such file"), (words, "no known format")):
        line = gangsaw("tcr", "count", path, wrong, target, *HUMAN, *HERE).failed(USAGE)
        assert str(wrong) in line
        assert said in line
    assert not target.exists()
    ran = gangsaw.ok(
        "tcr", "count", path, words, target, *HUMAN, *HERE, *ALL, "--keep-going", "--json"
    )
    assert len(ran.figures["problems"]) == 1
    assert ran.figures["kept"] == 3


RUN = "import sys; from gangsaw.cli import main; sys.exit(main(sys.argv[1:]))"
# from the third on, chunks are stored and not yet journalled until the input ends
HELD = """
import sys
from gangsaw.cli import main
from gangsaw.tasks.tcr.store.chunk import CountChunk
inner = CountChunk._store
def store(self, chunk, columns):
    found = inner(self, chunk, columns)
    if chunk.number >= 2:
        sys.stdin.read()
    return found
CountChunk._store = store
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.full
@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_and_resumed(gangsaw: CommandLine, tmp_path: Path, sent: signal.Signals) -> None:
    path, target = written(tmp_path, "a", records(600)), tmp_path / "o.zarr"
    command = ["tcr", "count", path, target, *HUMAN, *ALL, *HERE]
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, *map(str, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def journalled() -> list[Path]:
        found = target.glob("cdr3/.gangsaw/journal/*/*/*")
        return [path for path in found if path.suffix != ".partial"]

    wait_until(lambda: len(journalled()) == 2, process)
    process.send_signal(sent)
    _, err = process.communicate(timeout=HANG)
    if sent != signal.SIGKILL:
        assert process.returncode == 130
        assert err == (
            "gangsaw: interrupted: finished chunks are safe; run the same command with --resume to "
            "continue\n"
        )
    assert "--resume" in gangsaw(*command).failed(USAGE)
    figures = gangsaw.ok(*command, "--resume", "--json").figures
    assert figures["kept"] == 600
    assert 0 < figures["run"]["references"] <= 600 - 2 * 64
    gangsaw.ok("verify", target)


@pytest.mark.full
def test_a_killed_worker(gangsaw: CommandLine, tmp_path: Path) -> None:
    """What it had is done again by the worker that comes in its place."""
    path, target = written(tmp_path, "a", records(300)), tmp_path / "o.zarr"
    command = ["tcr", "count", path, target, *HUMAN, *ALL, "--workers", 1, "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, command)], stdout=subprocess.PIPE, text=True
    )
    wait_until((target / "cdr3/.gangsaw/staging/000000/finished").exists, process)
    children = psutil.Process(process.pid).children(recursive=True)
    max(children, key=lambda child: child.memory_info().rss).kill()  # it loads the kernels now
    out, _ = process.communicate(timeout=HANG)
    assert process.returncode == 0
    assert json.loads(out)["run"]["references"] == 300
    gangsaw.ok("verify", target)


def test_real_samples(gangsaw: CommandLine, tmp_path: Path, shared: Path) -> None:
    folder = shared / "data" / "tcr"
    if not folder.is_dir():
        pytest.skip("no repertoires in the data folder")
    paths = sorted((folder / "human_TRB").glob("A4-i1*.txt.gz"))[:3]
    options = ("--species", "human", *HERE, "--json")
    figures = gangsaw.ok("tcr", "count", *paths, tmp_path / "o.zarr", *options).figures
    assert figures["rows"] == figures["kept"] + sum(figures["dropped"].values())
    assert figures["kept"] > 0.95 * figures["rows"]
    lines = (tmp_path / "o.dropped.tsv").read_text().splitlines()
    assert len(lines) - 1 == sum(figures["dropped"].values())
