"""What must hold of count_paths whatever is counted: it is the reference."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.tcr_cases import (
    CORNERS,
    Case,
    assert_counts,
    assert_dataset,
    corner,
    counted,
    expected,
    fields_of,
    rc_text,
)
from helpers.tcr_strategies import CONCRETE, cases, models, tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.tasks.tcr import Model
from gangsaw.tasks.tcr.exhaustive import exhaustive

Exact = npt.NDArray[np.object_]
DP2, DP1 = ("full", "zero", "no_d", "no_d_two"), ("dp1_nonempty", "dp1_empty")
dp2 = models(("dp2",))
both_without_palindromes = models(("both",), max_p=0)
few, some, many = (settings(max_examples=n) for n in (40, 100, 300))


def exact_fields(case: Case) -> dict[str, Exact]:
    """Counts of a case as Python's integers: differences of unsigned ones do not wrap."""
    fields = fields_of(counted(case))
    return {field: np.asarray(values).astype(object) for field, values in fields.items()}


# equality with the reference


@some
@given(cases())
def test_any_genes(case: Case) -> None:
    assert_dataset(case)


@few
@given(cases(n_d=(0, 0)))
def test_chains_without_d(case: Case) -> None:
    assert_dataset(case)


@few
@given(cases(models(("dp2",), d_segments=2), n_d=(2, 3), longest=10))
def test_two_d_genes_in_a_row(case: Case) -> None:
    assert_dataset(case)


@few
@given(cases(models(max_n=3), n_d=(1, 1), longest=40, n_references=(1, 1), wild_genes=False))
def test_long_references(case: Case) -> None:
    assert_dataset(case)


KINDS = {
    "one D gene": cases(longest=16),
    "no D gene": cases(n_d=(0, 0), longest=20),
    "two D genes in a row": cases(models(("dp2",), d_segments=2), n_d=(2, 3)),
    "long": cases(models(max_n=2), n_d=(1, 2), longest=80, n_references=(1, 1)),
}


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@many
@given(data=st.data())
def test_any_genes_for_long(kind: str, data: st.DataObject) -> None:
    assert_dataset(data.draw(KINDS[kind]))


@pytest.mark.parametrize("seed", range(20))
def test_brute_force(seed: int) -> None:
    """What is constructed path by path is what is counted."""
    parts, choices = tiny(random.Random(1000 + seed))
    model = Model(choices["model"], *(choices[k] for k in ("strands", "max_p", "max_n")))
    model = replace(model, min_d_end=choices["min_d_end"])
    case = Case("tiny", *((part,) for part in parts[:3]), {"D": parts[3][0]}, model)
    found, constructed = counted(case).isel(reference=0, d_gene=0), exhaustive(*parts, **choices)
    if model.dp2:
        assert found.paths_full.values.tolist() == [list(row) for row in constructed.paths]
        zero = [list(row) for row in constructed.zero_length_d]
        assert found.paths_zero_length_d.values.tolist() == zero
    else:
        of_all = [row[-1] for row in constructed.paths]  # with palindromes of up to max_p
        assert found.dp1_paths.values.tolist() == of_all


# corners


@pytest.mark.parametrize("name", CORNERS)
def test_corner(name: str) -> None:
    assert_dataset(corner(name, Model("both", 1, 4, 3)))
    assert_dataset(corner(name, Model("both", 2, 3, 10, min_d_end=0)))


@pytest.mark.full
@pytest.mark.parametrize("name", CORNERS)
def test_corner_in_all_sweeps(name: str) -> None:
    """Each maximum of one kind with each of the other, strands and least ends with all of them."""
    for i, j in itertools.product(range(4), range(4)):
        limits = {"max_p": (0, 1, 2, 4)[i], "max_n": (0, 1, 4, 10)[j]}
        strands, min_d_end = 1 + (i + j) % 2, (i + j // 2) % 2
        assert_dataset(corner(name, Model("both", strands, min_d_end=min_d_end, **limits)))


@pytest.mark.parametrize("name", CORNERS)
def test_corner_with_two_d_genes_in_a_row(name: str) -> None:
    case = corner(name, Model("dp2", 2, 2, 5, d_segments=2))
    d = list(case.d.values())
    first = taken(case, list(range(min(2, len(case.cdr3)))))
    assert_dataset(replace(first, d={"Da": d[0], "Db": d[-1], "Dc": "GATTACA"}))


# what follows from the definitions


@some
@given(cases(dp2))
def test_strands_agree_without_palindromes(case: Case) -> None:
    one, two = (exact_fields(replace(case, model=replace(case.model, strands=s))) for s in (1, 2))
    for field in DP2:
        np.testing.assert_array_equal(one[field][..., 0], two[field][..., 0])


@some
@given(cases(dp2))
def test_more_is_never_less(case: Case) -> None:
    """More n-nucleotides, longer palindromes, and D of any length: paths are added."""
    found = exact_fields(case)
    for field in DP2:
        for axis in (-1, -2):
            assert (np.diff(found[field], axis=axis) >= 0).all()
    assert (found["full"] >= found["zero"]).all()
    assert (found["no_d_two"] >= found["no_d"]).all()


@some
@given(cases(dp2))
def test_a_sweep_is_all_its_cells(case: Case) -> None:
    """max_n and max_p say where a table ends and change nothing in it."""
    m = case.model
    smaller = replace(case, model=replace(m, max_p=m.max_p // 2, max_n=m.max_n // 2))
    whole, part = exact_fields(case), exact_fields(smaller)
    for field in DP2:
        cut = whole[field][..., : m.max_n // 2 + 1, : m.max_p // 2 + 1]
        np.testing.assert_array_equal(part[field], cut)


@some
@given(cases(models(("both",), max_p=0, max_n=10, min_d_end=0), longest=10))
def test_both_models_agree_without_palindromes(case: Case) -> None:
    """DP-2 with room for all n, e = 0 allowed, is DP-1 summed over n, with g + 1 ways to no D."""
    assert all(len(cdr3) <= 10 for cdr3 in case.cdr3)
    found = exact_fields(case)
    ways = np.array([len(gene) + 1 for gene in case.d.values()], dtype=object)
    wanted = found["dp1_nonempty"].sum(-1) + found["dp1_empty"].sum(-1)[:, None] * ways
    np.testing.assert_array_equal(found["full"][:, :, 10, 0], wanted)


def turned(case: Case) -> Case:
    """The other strand of references and genes."""
    d = {name: rc_text(gene) for name, gene in reversed(case.d.items())}
    sides = {"v": tuple(map(rc_text, case.j)), "j": tuple(map(rc_text, case.v))}
    return replace(case, cdr3=tuple(map(rc_text, case.cdr3)), d=d, **sides)


@some
@given(cases(models(("dp1",))))
def test_dp1_of_the_other_strand(case: Case) -> None:
    forward, backward = exact_fields(case), exact_fields(turned(case))
    np.testing.assert_array_equal(forward["dp1_nonempty"], backward["dp1_nonempty"][:, ::-1])
    np.testing.assert_array_equal(forward["dp1_empty"], backward["dp1_empty"])
    np.testing.assert_array_equal(forward["genes"], backward["genes"][:, [0, 2, 1, 4, 3, 5]])


@some
@given(
    st.one_of(
        cases(both_without_palindromes),
        cases(models(("dp2",), max_p=0, d_segments=2), n_d=(2, 3), longest=8),
    )
)
def test_dp2_of_the_other_strand_without_palindromes(case: Case) -> None:
    forward, backward = exact_fields(case), exact_fields(turned(case))
    if case.model.d_segments == 1:  # pairs are not in the reverse order
        for field in ("full", "zero"):
            np.testing.assert_array_equal(forward[field], backward[field][:, ::-1])
        complements = [1, 0, 3, 2]
        np.testing.assert_array_equal(forward["n1"], backward["n2"][:, ::-1, complements])
    else:
        for i, j in itertools.combinations(range(len(case.d)), 2):
            number = pair_number(i, j, len(case.d))
            other = pair_number(len(case.d) - 1 - j, len(case.d) - 1 - i, len(case.d))
            np.testing.assert_array_equal(forward["full"][:, number], backward["full"][:, other])
    for field in ("no_d", "no_d_two"):
        np.testing.assert_array_equal(forward[field], backward[field])


def pair_number(i: int, j: int, n: int) -> int:
    return list(itertools.combinations(range(n), 2)).index((i, j))


@some
@given(
    cases(
        models(("both",)),
        wild_references=False,
        wild_genes=False,
        n_references=(1, 1),
        longest=10,
    ),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("NRYSWKMBDHV")), max_size=3),
)
def test_wildcards_are_the_sum_of_what_they_may_be(case: Case, wild: list[tuple[int, str]]) -> None:
    """Exactly in DP-1 and without palindromes; with palindromes at least.

    SPEC.md, "Resolutions".
    """
    letters = list(case.cdr3[0])
    for at, letter in wild:
        letters[at % len(letters)] = letter
    every = tuple(map("".join, itertools.product(*map(nucleotides, letters))))
    found = exact_fields(rows_of(case, ("".join(letters), *every)))
    for field in (*DP1, *DP2):
        counts, parts = found[field][0], found[field][1:].sum(axis=0)
        if field in DP1 or field in ("zero", "no_d", "no_d_two"):
            np.testing.assert_array_equal(counts, parts, err_msg=field)
        else:
            np.testing.assert_array_equal(counts[..., 0], parts[..., 0], err_msg=field)
            assert (counts >= parts).all()


def nucleotides(letter: str) -> str:
    """The nucleotides that a letter may be."""
    if letter in CONCRETE:
        return letter
    sets = {"N": "ACGT", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"}
    return (sets | {"B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG"})[letter]


def rows_of(case: Case, cdr3: tuple[str, ...]) -> Case:
    """Other references with the genes of the first."""
    return replace(case, cdr3=cdr3, v=case.v[:1] * len(cdr3), j=case.j[:1] * len(cdr3))


def taken(case: Case, rows: list[int]) -> Case:
    """References in another order, some of them twice or left out."""
    parts = {name: tuple(getattr(case, name)[i] for i in rows) for name in ("cdr3", "v", "j")}
    return replace(case, **parts)


@some
@given(cases(n_references=(2, 5)), st.data())
def test_references_are_independent(case: Case, data: st.DataObject) -> None:
    """In any order, any chunks, with duplicates: each has the same counts."""
    n = len(case.cdr3)
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2 * n))
    whole, some_rows = fields_of(counted(case)), fields_of(counted(taken(case, rows)))
    for field, values in whole.items():
        np.testing.assert_array_equal(some_rows[field], values[rows], err_msg=field)


@few
@given(cases(n_d=(2, 3)), st.randoms(use_true_random=False))
def test_d_genes_are_independent(case: Case, order: random.Random) -> None:
    names = list(case.d)
    order.shuffle(names)
    shuffled = counted(replace(case, d={name: case.d[name] for name in names}))
    whole = counted(case)
    for name in names:
        one = counted(replace(case, d={name: case.d[name]})).sel(d_gene=name)
        assert one.equals(whole.sel(d_gene=name))
        assert one.equals(shuffled.sel(d_gene=name))


@few
@given(cases())
def test_letters_of_rna_and_in_lower_case(case: Case) -> None:
    def as_rna(text: str) -> str:
        return text.replace("T", "u").swapcase()

    other = replace(
        case,
        cdr3=tuple(map(str.lower, case.cdr3)),
        v=tuple(map(as_rna, case.v)),
        d={name: as_rna(gene) for name, gene in case.d.items()},
    )
    assert counted(case).equals(counted(other))


def test_many_references_in_one_call() -> None:
    """More than one slice of work, duplicates among them: every row is that of its sequence."""
    rng = random.Random(1)
    every = ["".join(letters) for letters in itertools.product("ACGTN", repeat=5)]
    rng.shuffle(every)
    cdr3 = tuple(every + every[:2500])
    model = Model("both", max_p=2, max_n=3)
    genes = {"v": ("ACGG",) * len(cdr3), "j": ("TTGC",) * len(cdr3), "d": {"D": "GATTA"}}
    case = Case("many", cdr3, **genes, model=model)
    found = fields_of(counted(case))
    sample = rng.sample(range(len(cdr3)), 100)
    assert_counts(
        {field: values[sample] for field, values in found.items()}, expected(taken(case, sample))
    )
    for field, values in found.items():
        np.testing.assert_array_equal(values[-2500:], values[:2500], err_msg=field)


@pytest.mark.parametrize("letters", ["AT", CONCRETE, CONCRETE + "N"])
@pytest.mark.parametrize("segments", [1, 2])
def test_nothing_is_left_of_the_reference_before(letters: str, segments: Any) -> None:
    """Long ones before short ones, many matches before few: each as if it were alone."""
    rng = random.Random(len(letters))

    def drawn(least: int, most: int) -> str:
        return "".join(rng.choices(letters, k=rng.randint(least, most)))

    v, j = ([drawn(4, 20) for _ in range(60)] for _ in range(2))
    cdr3 = [
        v[i][: rng.randint(0, 20)] + drawn(1, 30) + j[i][rng.randint(0, 20) :] for i in range(60)
    ]
    d = {"D0": drawn(4, 4), "D1": drawn(20, 30), "D2": drawn(8, 12)}
    model = Model("both" if segments == 1 else "dp2", 2, d_segments=segments, max_n=6)
    case = Case("many", tuple(cdr3), tuple(v), tuple(j), d, model)
    whole = fields_of(counted(case))
    for i in range(60):
        alone = fields_of(counted(taken(case, [i])))
        for field, values in whole.items():
            np.testing.assert_array_equal(alone[field][0], values[i], err_msg=field)
