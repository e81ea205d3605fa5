"""Totals over D genes, and the gene that fits best: against plain loops."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from reference import tcr

from gangsaw.tasks.tcr.counting.kernels import cpu
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.paths import dataset
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch
from gangsaw.tasks.tcr.counting.paths.totals import (
    DGenes,
    add_genes,
    strip_alleles,
    total_arrays,
    totals,
)
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.model.nucleotides import decoded

V = ("ACCTGCAGTGCAGA", "GCCAGCAGCTTAG")
J = ("CAAACACAGAAGTCTTC", "AACTATGCTGAGCAGTTC")
D = {
    "D1*01": "GGGACAGGGGGC",
    "D2*01": "GGGACTAGCGGGGGGG",
    "D2*02": "GGGACTAGCGGGAGGG",
    "D3": "ATATAT",
}
PAIRS = np.array([[True, True], [False, True], [False, True], [True, True]])
MODELS = (
    Model("both", 2, max_n=3),
    Model("dp2", min_d_end=0, max_n=2),
    Model("dp1", max_p=2, max_n=4),
)


def counted(model: Model, d: dict[str, str], n: int = 60) -> tuple[Batch, dict[str, np.ndarray]]:
    batch = random_batch(V, tuple(d.values()), J, n, 3)
    return batch, dataset.arrays(cpu.count(batch, model), model, [len(text) for text in d.values()])


def genes(model: Model, d: dict[str, str], pairs: np.ndarray = PAIRS) -> DGenes:
    names = tuple(d) if model.d_segments == 1 else dataset.d_pairs(list(d))
    return DGenes(names, pairs)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_alleles_count_once_and_only_what_pairs(model: Model) -> None:
    batch, found = counted(model, D)
    total = total_arrays(found, batch, model, genes(model, D))
    assert set(total) == {v.name for v in totals(model, len(D))}
    names = {"paths_total": ("paths_full", "paths_no_d"), "dp1_total": ("dp1_paths", None)}
    for name, (by_d, without) in names.items():
        for row in range(60) if name in total else ():
            wanted = 0 if without is None else found[without][row].astype(object)
            for _, alleles in groupby(range(len(D)), lambda i: strip_alleles(list(D)[i])):
                own = [found[by_d][row, i] for i in alleles if PAIRS[i, batch.j_of[row]]]
                wanted = wanted + np.max([np.zeros_like(found[by_d][row, 0]), *own], axis=0)
            assert total[name][row].tolist() == wanted.tolist()


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_best_d_gene_and_what_is_left_of_it(model: Model) -> None:
    batch, found = counted(model, D, 200)
    total = total_arrays(found, batch, model, genes(model, D))
    rules = tcr.Rules(model.strands, model.max_p, model.min_d_end)
    codes = {name: tcr.encode(text) for name, text in D.items()}
    seen = set()
    for row in range(200):
        start, stop = batch.references.offsets[row : row + 2]
        r = tcr.encode(decoded(batch.references.data[start:stop]))
        matches = [(-found["d_length"][row, d], _beside(found, row, d), d) for d in range(len(D))]
        length, _, d = min(m for m in matches if PAIRS[m[2], batch.j_of[row]])
        if length == 0:
            assert (total["d_index"][row], total["n1_length"][row]) == (-1, -1)
            continue
        assert total["d_index"][row] == d
        assert total["n1_length"][row] == max(0, found["vd_distance"][row, d])
        assert total["n2_length"][row] == max(0, found["dj_distance"][row, d])
        ends = (total["d5_erosion"][row], total["d3_erosion"][row])
        seen.add(tuple(np.sign(ends).tolist()))
        gene, a = codes[list(D)[d]], found["d_first"][row, d] - 1
        pieces = {
            (-e.dl_left, -e.dl_right)
            for e in tcr.d_events(r, gene, rules)
            if (e.a, e.b) == (a, a - length)
        }
        assert ends in pieces
    assert len(seen) > 3  # eroded and palindromic ends, at either side
    assert total["v_erosion"].tolist() == (found["v_length"] - found["v_match"]).tolist()


def _beside(found: dict[str, np.ndarray], row: int, d: int) -> int:
    return sum(max(0, int(found[name][row, d])) for name in ("vd_distance", "dj_distance"))


def test_a_chain_without_d_and_pairs_of_d() -> None:
    model = Model("both")
    batch, found = counted(model, {})
    total = total_arrays(found, batch, model, genes(model, {}, np.zeros((0, 2), bool)))
    assert set(total) == {v.name for v in totals(model, 0)}
    assert total["paths_total"].tolist() == found["paths_no_d"].tolist()
    assert total["n_length"].tolist() == np.maximum(found["vj_distance"], 0).tolist()
    model, d = Model(d_segments=2, max_n=2), {"D1": D["D1*01"], "D3": D["D3"]}
    batch, found = counted(model, d)
    total = total_arrays(found, batch, model, genes(model, d, PAIRS[[0, 3]]))
    wanted = found["paths_no_d"] + found["paths_full"][:, 0]
    assert total["paths_total"].tolist() == wanted.tolist()


def test_a_total_beyond_64_bits_is_the_largest_number() -> None:
    without = np.array([[1, 2**63]], np.uint64)
    by_d = np.array([[[2, 2**63 - 1], [3, 2]]], np.uint64)
    allowed = np.ones((2, 1), bool)
    assert add_genes(without, by_d, ("a", "b"), allowed).tolist() == [[6, 2**64 - 1]]
    assert add_genes(without, by_d, ("a*01", "a*02"), allowed).tolist() == [[4, 2**64 - 1]]
    assert without.tolist() == [[1, 2**63]]
