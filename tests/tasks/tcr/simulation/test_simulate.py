"""Files of simulated references and reads."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from helpers.command_line import CommandLine
from helpers.germline_files import FASTA

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.simulation.job import ModelChoice, SimulateChoice, simulate
from gangsaw.tasks.tcr.simulation.reads import ReadsMade
from gangsaw.tasks.tcr.simulation.references import Wanted

USAGE = 2
HUMAN = ModelChoice(species="human")
OTHER = bytes.maketrans(b"ACGT", b"TGCA")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return [*csv.DictReader(file, delimiter="\t")]


def records(path: Path) -> list[tuple[str, bytes, bytes]]:
    lines = gzip.decompress(path.read_bytes()).split(b"\n")[:-1]
    assert set(lines[2::4]) == {b"+"}
    names = [line.decode().removeprefix("@") for line in lines[::4]]
    return [*zip(names, lines[1::4], lines[3::4], strict=True)]


def made(folder: Path, n: int = 300, **choices: Any) -> list[Path]:
    paths = [folder / name for name in ("t.tsv", "r_1.fastq.gz", "r_2.fastq.gz")]
    reads = tuple(map(str, paths[1:]))
    wanted = Wanted(n, seed=choices.pop("seed", 1), depth=3)
    done = simulate(paths[0], HUMAN, wanted, SimulateChoice(reads, ReadsMade(**choices)))
    assert done.pairs == len(records(paths[1])) == len(records(paths[2]))
    return paths


def test_reads_without_errors_are_of_their_molecules(tmp_path: Path) -> None:
    table, *mates = made(tmp_path, errors=0.0, length=100, insert=180)
    truth = {row["sequence_id"]: row for row in rows(table)}
    first, second = map(records, mates)
    seen = dict.fromkeys(truth, 0)
    forward = 0
    for (name, one, quality), (other_name, two, _) in zip(first, second, strict=True):
        reference, _, copy = name.partition(".")
        assert other_name == name
        assert int(copy) == seen[reference]
        seen[reference] += 1
        molecule = truth[reference]["sequence"].encode()
        fragment = molecule[-180:]
        turned = fragment.translate(OTHER)[::-1]
        is_forward = one == fragment[:100]
        forward += is_forward
        a, b = (fragment, turned) if is_forward else (turned, fragment)
        assert (one, two) == (a[:100], b[:100])
        assert set(quality) == {40 + 33}
    assert {r: int(truth[r]["duplicate_count"]) for r in truth} == seen
    assert 0.4 < forward / len(first) < 0.6


def test_errors_are_as_qualities_say(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    right = made(tmp_path, errors=0.0)
    wrong = made(tmp_path / "a", errors=0.02)
    total = np.zeros((2, 2))
    for one, other in zip(right[1:], wrong[1:], strict=True):
        for (_, letters, _), (_, read, quality) in zip(records(one), records(other), strict=True):
            # errors draw as much as none does, so both runs turn the same pairs
            differ = np.frombuffer(letters, np.uint8) != np.frombuffer(read, np.uint8)
            bad = np.frombuffer(quality, np.uint8) == 10 + 33
            total += [[bad.sum(), differ[bad].sum()], [(~bad).sum(), differ[~bad].sum()]]
    rates = total[:, 1] / total[:, 0]
    assert total[:, 1].sum() / total[:, 0].sum() == pytest.approx(0.02, rel=0.1)
    assert rates[0] == pytest.approx(0.1, rel=0.1)
    assert rates[1] < 3e-4


def test_equal_seeds_write_equal_bytes(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    one, same, other = (made(f, seed=s) for f, s in zip(folders, (1, 1, 2), strict=True))
    assert [p.read_bytes() for p in one] == [p.read_bytes() for p in same]
    assert all(a.read_bytes() != b.read_bytes() for a, b in zip(one, other, strict=True))


def test_the_truth_fits_the_letters(tmp_path: Path) -> None:
    table, *_ = made(tmp_path)
    for row in rows(table):
        assert row["junction"] in row["sequence"]
        assert len(row["junction"]) == 3 * len(row["junction_aa"])
        assert row["productive"] == row["vj_in_frame"] == "T"
        assert row["d_call"].startswith("TRBD")


def test_the_table_is_counted(gangsaw: CommandLine, tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    ran = gangsaw.ok("tcr", "simulate", table, "-n", 80, "--species", "mouse", "--json")
    assert ran.figures["references"] == ran.figures["productive"] == 80
    assert ran.figures["model"] == "olga, mouse_T_beta"
    store = tmp_path / "p.zarr"
    options = ("--species", "mouse", "--workers", 0, "--json")
    counted = gangsaw.ok("tcr", "count", table, store, *options)
    assert counted.figures["kept"] == 80, counted.figures["dropped"]
    data = xr.open_zarr(store, chunks=None)
    assert data["id"].values.tolist() == [f"r{i}" for i in range(80)]


def test_genes_of_files_recombine_uniformly(gangsaw: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "g.fasta").write_text(FASTA)
    own = ("--germline", tmp_path / "g.fasta", "--locus", "TRB")
    ran = gangsaw.ok(
        *("tcr", "simulate", tmp_path / "t.tsv", *own, "-n", 50),
        *("--reads", tmp_path / "r", "--read-length", 40, "--insert", 70, "--json"),
    )
    assert ran.figures["model"] == "uniform, g.fasta"
    assert ran.figures["pairs"] == len(records(tmp_path / "r_1.fastq.gz")) == 50
    text = gangsaw.ok("tcr", "simulate", tmp_path / "u.tsv", *own, "-n", 5).out
    assert "uniform, g.fasta" in text
    counted = gangsaw.ok(
        *("tcr", "count", tmp_path / "t.tsv", tmp_path / "p.zarr", *own, "--workers", 0, "--json")
    )
    assert counted.figures["kept"] == 50, counted.figures["dropped"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "pass --species human or mouse"),
        (("--species", "human", "--locus", "TRG"), "olga has no model of TRG"),
        (("--germline", "g.tsv", "--recombination", "olga"), "name no germline"),
        (("--germline", "g.tsv", "--reads", "x"), "reads need whole genes"),
        (("--species", "human", "--errors", "0.5"), "errors must be 0 or"),
        (("--species", "human", "--recombination", "other"), "--recombination must be"),
    ],
)
def test_what_cannot_be_made(
    gangsaw: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = [("TRBV1*01", "GCCAGCAGC"), ("TRBD1*01", "GGGACAGG"), ("TRBJ1-1*01", "CAAACACAG")]
    lines = ["gene\tpart", *("\t".join(part) for part in parts)]
    Path("g.tsv").write_text("\n".join(lines) + "\n")
    assert said in gangsaw("tcr", "simulate", "t.tsv", *options).failed(USAGE)
    assert [path.name for path in tmp_path.iterdir()] == ["g.tsv"]


def test_existing_files_are_kept(tmp_path: Path) -> None:
    made(tmp_path, 3)
    with pytest.raises(BadParams, match="exists"):
        made(tmp_path, 3)
