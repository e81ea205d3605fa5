"""Reads in other orders: the same records and pairs, neighbours in the genome are near."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import zarr

import gangsaw
from gangsaw import reads
from gangsaw.tasks.genomics.reads.order import job
from gangsaw.tasks.genomics.reads.order.bins import chain
from gangsaw.tasks.genomics.reads.order.bins.chain import edges_of, heaviest, ranks_of
from gangsaw.tasks.genomics.reads.order.bins.signatures import BIN_BITS, LEFT, NO_BIN
from gangsaw.tasks.genomics.reads.order.plan import OrderLimits, plan_for
from gangsaw.tasks.genomics.reads.synthetic import make_reads

MADE = make_reads(1500, 80, genome=6000)
ORDERS = ("bins", "sorted")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("reads")
    paths = [folder / "reads_1.fastq", folder / "reads_2.fastq"]
    for path, text in zip(paths, (MADE.first, MADE.second), strict=True):
        path.write_bytes(text)
    return paths


def records(text: bytes) -> list[bytes]:
    lines = text.splitlines(keepends=True)
    return [b"".join(lines[i : i + 4]) for i in range(0, len(lines), 4)]


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("order", ORDERS)
def test_pairs_stay_pairs_and_none_is_lost(
    files: list[Path], tmp_path: Path, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "LIMITS", OrderLimits(part_bytes=1 << 16, range_letters=1 << 15))
    store, copies = tmp_path / "reads.zarr", [tmp_path / "a.fastq", tmp_path / "b.fastq"]
    gangsaw.compress(files, store, order=order)
    gangsaw.decompress(store, copies)
    wanted = Counter(zip(records(MADE.first), records(MADE.second), strict=True))
    found = [records(copy.read_bytes()) for copy in copies]
    assert Counter(zip(*found, strict=True)) == wanted
    assert found[0] != records(MADE.first)
    gangsaw.compress(files, tmp_path / "kept.zarr")
    digests = [
        zarr.open_group(path).attrs["gangsaw_reads"]["digest"]
        for path in (store, tmp_path / "kept.zarr")
    ]
    assert digests[0] == digests[1]
    assert gangsaw.verify(store, against=files).ok
    others = records(copies[1].read_bytes())  # two reads that change their mates
    copies[1].write_bytes(b"".join([others[1], others[0], *others[2:]]))
    (problem,) = gangsaw.verify(store, against=copies).problems
    assert problem == "attribute gangsaw_reads: it differs from the source's in digest"


def test_neighbours_come_together(files: list[Path], tmp_path: Path) -> None:
    """Of the genome's places, those of reads that follow each other are near."""
    far = {}
    genome = MADE.genome * 2
    for order in ("kept", *ORDERS):
        store = tmp_path / f"{order}.zarr"
        gangsaw.compress(files[0], store, order=order)
        some = reads.open(store)[:]
        places = [genome.find(sequence[:20]) for sequence in some.sequences]
        known = np.array([place for place in places if place >= 0])
        steps = np.abs(np.diff(known))
        far[order] = np.median(np.minimum(steps, 6000 - steps))
    assert far["bins"] < 0.2 * far["kept"]
    assert far["sorted"] < 0.05 * far["kept"]


def test_a_chain_of_bins_is_walked_along() -> None:
    runs = []
    chain = [7, 3, 900, 12, 5]
    for i, (a, b) in enumerate(pairwise(chain)):
        runs.append(edges_of(np.array([[a, b]] * (i + 1))))
    runs.append(edges_of(np.array([[NO_BIN, NO_BIN]])))
    ranks = ranks_of(heaviest(runs))
    walked = sorted(chain, key=lambda number: int(ranks[number]))
    assert sorted(ranks[chain].tolist()) == list(range(5))
    assert walked[0] == 3
    joined = {frozenset(pair) for pair in pairwise(chain)}
    assert sum(frozenset(p) in joined for p in pairwise(walked)) >= 3
    assert ranks[NO_BIN] == ranks[100] == NO_BIN


def test_of_many_edges_the_heaviest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same whether runs wait or are merged one by one."""
    rng = np.random.default_rng(3)
    bins = np.minimum(rng.geometric(0.02, (4000, 2)), 200)
    runs = [edges_of(part) for part in np.split(bins, 8)]
    counts = Counter(map(tuple, [*bins.tolist(), *bins[:, ::-1].tolist()]))
    of_7 = sorted((n, b) for (a, b), n in counts.items() if a == 7)
    for waiting in (1, 1 << 22):
        monkeypatch.setattr(chain, "WAITING", waiting)
        keys = heaviest(runs)
        found = keys[keys >> BIN_BITS == 7] & (NO_BIN - 1)
        assert found.tolist() == [b for _, b in of_7[-chain.NEIGHBOURS :]]


def test_a_bin_that_is_too_large_is_cut() -> None:
    """Ranges are equal to a record, whatever the parts."""
    rng = np.random.default_rng(4)
    bins = rng.choice([5, 6, 7, NO_BIN], (3000, 1), p=[0.1, 0.7, 0.1, 0.1]).repeat(2, axis=1)
    weights = rng.integers(1, 100, 3000)
    ranks = ranks_of(heaviest([edges_of(bins)]))
    limits, whole = OrderLimits(range_letters=9000), None
    for n_parts in (1, 6):
        parts = list(zip(np.split(bins, n_parts), np.split(weights, n_parts), strict=True))
        plan = plan_for(ranks, lambda parts=parts: iter(parts), limits)  # type: ignore[misc]
        ranges = np.concatenate(
            [plan.ranges_of(i, ranks[b[:, LEFT]], w) for i, (b, w) in enumerate(parts)]
        )
        sizes = np.bincount(ranges, weights)
        assert sizes.size == plan.n_ranges > 10
        assert np.ptp(sizes) < 200
        assert whole is None or np.array_equal(ranges, whole)
        whole = ranges
    assert (np.diff(ranges[np.argsort(ranks[bins[:, LEFT]], kind="stable")]) >= 0).all()
