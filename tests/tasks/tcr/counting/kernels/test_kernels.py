"""Parts of the counting that its results alone do not show."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr import Model, count_paths
from gangsaw.tasks.tcr.counting.kernels import cpu, tables
from gangsaw.tasks.tcr.counting.kernels.batch import Batch, Counts
from gangsaw.tasks.tcr.counting.paths import bounds
from gangsaw.tasks.tcr.counting.paths.count import count_distinct
from gangsaw.tasks.tcr.counting.paths.dataset import variables
from gangsaw.tasks.tcr.counting.paths.distinct import distinct, select_references
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch
from gangsaw.tasks.tcr.model.nucleotides import NUCLEOTIDES

# made up; palindromes of one another, so that pieces of D are found across ends
V = ("ACCTGCAGTGCAGA", "GCCAGCAGCTTAG", "GCCTGGAGTC")
J = ("CAAACACAGAAGTCTTC", "AACTATGCTGAGCAGTTC", "GGTACCTTGCAC")
D = ("GGGACAGGGGGC", "GGGACTGGGGGGGC", "ATATATCGCG")
MODELS = (
    Model(),
    Model(strands=2, min_d_end=0),
    Model(max_p=2, max_n=7),
    Model(d_segments=2),
)


def batch(n: int = 200, seed: int = 0) -> Batch:
    return random_batch(V, D, J, n, seed)


def with_wildcards(plain: Batch, share: float) -> Batch:
    """Some symbols replaced by codes that hold them and others."""
    rng = np.random.default_rng(1)
    codes = plain.references.data
    more = rng.integers(0, 16, len(codes)) * (rng.random(len(codes)) < share)
    wild = (codes | more).astype(np.uint8)
    return replace(plain, references=RaggedArray(wild, plain.references.offsets))


def assert_equal(one: Counts, other: Counts, rows: Any = slice(None)) -> None:
    for field in fields(Counts):
        left, right = getattr(one, field.name), getattr(other, field.name)
        assert (left is None) == (right is None), field.name
        if left is not None:
            np.testing.assert_array_equal(left[rows], right, err_msg=field.name)


@pytest.mark.full
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_the_greatest_count_is_known_before_counting(model: Model, share: float) -> None:
    references = with_wildcards(batch(), share)
    known = bounds.find_largest_dp2_counts(references, model, np.arange(200))
    counted = cpu.count(references, model).full.reshape(200, -1).max(axis=1)
    np.testing.assert_allclose(known, counted.astype(np.float64), rtol=2**-40)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_harmless_reference_comes_near_the_limit(model: Model) -> None:
    """The quick look at all wildcards is on the safe side of the exact one."""
    references = with_wildcards(batch(), 0.5)
    known = bounds.find_largest_dp2_counts(references, model, np.arange(200))
    assert (known < 2.0**64)[bounds.countable(references, model)].all()
    wildness = np.add.reduceat(
        bounds.LOG_WAYS[references.references.data], references.references.offsets[:-1]
    )
    harmless = wildness <= bounds._harmless(model, 14)
    assert (known[harmless] < 2.0**60).all()


def test_narrow_rows_are_exact() -> None:
    """Rows of 16 bits give what rows of 64 bits do, on the widest D and the longest references."""
    v, j = ("A" * 60,), ("A" * 60,)
    long = random_batch(v, ("A" * 56, "AT" * 28), j, 20, 3)
    model = Model(kind="both", strands=2, min_d_end=0)
    narrow = cpu.count(long, model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "NARROW", cpu.WIDE)
        assert_equal(narrow, cpu.count(long, model))


@pytest.mark.parametrize("max_p", [4, 1])
def test_looked_up_words_find_what_registers_do(max_p: int) -> None:
    """Of more genes than bits of a word, some of them equal, some shorter than a word."""
    rng = np.random.default_rng(6)
    genes = ["".join(rng.choice(list("ACGT"), size)) for size in rng.integers(4, 40, 64)]
    many = random_batch(V, (*D, *genes, *D), J, 40, 7)
    model = Model(kind="both", max_p=max_p)
    looked_up = cpu.count(many, model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "MANY", 1000)
        assert_equal(looked_up, cpu.count(many, model))


def test_equal_references_are_found() -> None:
    plain = batch(300)
    rng = np.random.default_rng(2)
    many = select_references(plain, rng.integers(0, 300, 1000))
    rows, same = distinct(many)
    keys = [
        (many.references.data[a:b].tobytes(), v, j)
        for a, b, v, j in zip(
            many.references.offsets[:-1],
            many.references.offsets[1:],
            many.v_of.tolist(),
            many.j_of.tolist(),
            strict=True,
        )
    ]
    assert len(rows) == len(set(keys))
    assert [keys[rows[i]] for i in same] == keys
    assert (np.diff(rows) > 0).all()


def test_equal_references_of_other_genes_differ() -> None:
    plain = batch(1)
    both = select_references(plain, np.array([0, 0]))
    other = replace(both, v_of=np.array([0, 1], np.int32))
    assert len(distinct(both)[0]) == 1
    assert len(distinct(other)[0]) == 2


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("model", [Model(kind="both"), Model(d_segments=2)], ids=str)
def test_equal_references_counted_once_give_what_all_give(model: Model) -> None:
    many = select_references(batch(50), np.random.default_rng(4).integers(0, 50, 200))
    assert_equal(count_distinct(many, model), cpu.count(many, model))


def test_an_empty_batch() -> None:
    none = select_references(batch(3), np.array([], np.int64))
    counts = count_distinct(none, Model(kind="both"))
    assert counts.full.shape == (0, 3, 11, 5)
    assert count_paths([], V[0], J[0], {"D": D[0]}).sizes["reference"] == 0


def test_a_batch_of_too_long_references_is_refused() -> None:
    """Working memory is for MAX_LENGTH symbols: whoever makes a batch may have forgotten it."""
    long = random_batch(("A" * 200,), D, ("A" * 200,), 3)
    with pytest.raises(BadParams, match=r"reference 0: .* at most 255"):
        cpu.count(long, Model())


def test_a_reference_that_is_refused_is_named_by_its_position() -> None:
    labelled = pd.Series(["ACGT", "N" * 60], index=[7, 9])
    with pytest.raises(BadParams, match="reference 1: the paths to NNN"):
        count_paths(labelled, "N" * 20, "N" * 20, {"D": "N" * 56})


def test_slices_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    references = with_wildcards(batch(100), 0.02)
    model = Model(kind="both")
    whole = cpu.count(references, model)
    monkeypatch.setattr(cpu, "SLICE", 7)
    set_thread_limit(3)
    try:
        assert_equal(whole, cpu.count(references, model))
    finally:
        set_thread_limit(None)


def test_random_references_are_made_of_their_genes() -> None:
    made, again, other = batch(500, 5), batch(500, 5), batch(500, 6)
    assert np.array_equal(made.references.data, again.references.data)
    assert not np.array_equal(made.v_of, other.v_of)
    calls = cpu.count(made, Model()).genes
    # eroded by 8 at most, and so many match again at the least
    assert (calls[:, 3] >= np.minimum(calls[:, 1] - 8, calls[:, 0])).all()
    assert (np.diff(made.references.offsets) > 0).all()


@pytest.mark.parametrize("kind", ["dp1", "dp2", "both"])
@pytest.mark.parametrize("n_d", [0, 2])
def test_the_dataset_is_what_the_table_says(kind: Any, n_d: int) -> None:
    d = dict(zip("ab", D[:n_d], strict=False))
    found = count_paths(["ACGTACGT"], V[0], J[0], d, model=kind)
    table = variables(Model(kind), n_d)
    assert list(found) == [variable.name for variable in table]
    for variable in table:
        array = found[variable.name]
        assert (array.dims, str(array.dtype)) == (variable.dims, variable.dtype)
        assert array.attrs == variable.attrs
    assert all(len(found[dim]) for dim in found.dims)
    assert list(found["nucleotide"].values) == list(NUCLEOTIDES)


def test_pairs_of_d_genes_are_named() -> None:
    d = dict(zip("abc", D, strict=True))
    found = count_paths(["ACGTACGT"], V[0], J[0], d, d_segments=2)
    assert list(found["d_pair"].values) == ["a+b", "a+c", "b+c"]
    assert found["paths_full"].dims == ("reference", "d_pair", "n_nucleotides", "p_nucleotides")
