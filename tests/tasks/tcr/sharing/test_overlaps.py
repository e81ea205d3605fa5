"""Pairs of individuals: what they share, and which share far too many."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.command_line import CommandLine
from helpers.tcr_stores import repertoires, write_counts

from gangsaw.tasks.tcr.sharing.overlaps import list_overlaps, shared_counts, warnings
from gangsaw.tasks.tcr.sharing.share import share

SAMPLES = ("ann", "ben", "cem", "dee", "eve", "fay")


def test_pairs_equal_intersections_of_sets(tmp_path: Path) -> None:
    rows = repertoires(1, 900, SAMPLES, pool=700)
    write_counts(tmp_path / "a.zarr", rows, SAMPLES)
    found = share([str(tmp_path / "a.zarr")], tmp_path / "a.parquet")
    sets = {
        name: set(map(tuple, rows.loc[rows["sample"] == i, ["cdr3", "v", "j"]].to_numpy()))
        for i, name in enumerate(SAMPLES)
    }
    assert len(found.overlaps) == 15
    for each in found.overlaps:
        assert each.shared == len(sets[each.one] & sets[each.other])
        assert (each.one_has, each.other_has) == (len(sets[each.one]), len(sets[each.other]))
    distances = [each.distance for each in found.overlaps]
    assert distances == sorted(distances, reverse=True)
    owners = pq.read_table(tmp_path / "a.parquet")["owners"].to_pylist()
    pairs = sum(len(list(combinations(each, 2))) for each in owners)
    assert sum(each.shared for each in found.overlaps) == pairs
    assert not any(each.far for each in found.overlaps)
    assert found.notes == ()


def planted(together: int, seed: int = 5) -> list[list[int]]:
    """Owners of nucleotypes: some common ones, and those that individuals 2 and 4 share besides."""
    rng = np.random.default_rng(seed)
    alone = [[i] for i in range(6) for _ in range(900 + 50 * i)]
    common = [sorted(rng.choice(6, 2, replace=False).tolist()) for _ in range(60)]
    return alone + common + [[2, 4]] * together


@pytest.mark.parametrize(("together", "is_far"), [(0, False), (3, False), (80, True), (400, True)])
def test_a_planted_overlap_is_found(together: int, is_far: bool) -> None:
    counts = shared_counts(pa.array(planted(together), pa.list_(pa.int32())), 6)
    found = list_overlaps(counts, SAMPLES)
    far = [(each.one, each.other) for each in found if each.far]
    assert far == ([("cem", "eve")] if is_far else [])
    words = list(warnings(found))
    assert len(words) == is_far
    if is_far:
        assert words[0].startswith(f"cem and eve share {counts[2, 4]} of ")


@pytest.mark.parametrize("seed", range(20))
def test_chance_alone_is_no_warning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(500, 10_000, 25)
    one, other = np.triu_indices(25, 1)
    counts = np.diag(sizes)
    counts[one, other] = rng.poisson(1e-7 * sizes[one] * sizes[other])
    names = [str(i) for i in range(25)]
    assert not any(each.far for each in list_overlaps(counts, names))


def test_two_individuals_have_no_rest_to_compare_with() -> None:
    few, most = np.array([[100, 30], [0, 90]]), np.array([[100, 60], [0, 90]])
    assert [each.far for each in list_overlaps(few, ("a", "b"))] == [False]
    assert [each.far for each in list_overlaps(most, ("a", "b"))] == [True]
    assert list_overlaps(np.array([[5]]), ("a",)) == ()


def test_the_command_lists_and_warns(tmp_path: Path, gangsaw: CommandLine) -> None:
    rows = repertoires(1, 900, SAMPLES, pool=3000)
    twice = pd.concat([rows, rows[rows["sample"] == 1].assign(sample=3)], ignore_index=True)
    write_counts(tmp_path / "a.zarr", twice, SAMPLES)
    ran = gangsaw.ok("tcr", "share", tmp_path / "a.zarr", tmp_path / "a.parquet").out
    assert "one donor twice, or contamination?" in " ".join(ran.split())
    assert all(len(line) <= 80 for line in ran.splitlines() if "/" not in line)
    command = ("tcr", "share", tmp_path / "a.zarr", tmp_path / "b.parquet", "--json")
    figures = gangsaw.ok(*command).figures
    assert [(each["one"], each["other"]) for each in figures["overlaps"] if each["far"]] == [
        ("ben", "dee")
    ]
