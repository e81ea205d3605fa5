"""count_paths against the expected outputs, and the worked examples as a user asks for them."""

from __future__ import annotations

from typing import Any

import pytest
import xarray as xr
from tcr_cases import (
    D1,
    D2,
    DP1_EMPTY_UNIT,
    DP1_NONEMPTY,
    DP2_OF_D1,
    VARIABLES,
    WORKED,
    Case,
    Expected,
    J,
    V,
    assert_dataset,
)
from tcr_cases import vector_parameters as vectors

from gangsaw.tasks.tcr import count_paths

GENES = {"TRBD1*01": D1, "TRBD2*01": D2}


@pytest.mark.parametrize(("case", "wanted"), vectors())
def test_vector(case: Case, wanted: Expected) -> None:
    assert_dataset(case, wanted)


def worked(**choices: Any) -> xr.Dataset:
    return count_paths([WORKED], V, J, GENES, **choices).isel(reference=0)


@pytest.mark.parametrize(("strands", "field"), DP2_OF_D1)
def test_dp2_of_the_worked_example(strands: int, field: str) -> None:
    found = worked(strands=strands)[VARIABLES[field]].sel(nu=10)
    if "d_gene" in found.dims:
        found = found.sel(d_gene="TRBD1*01")
    assert found.sel(pi=[0, 1, 2, 3, 4]).values.tolist() == DP2_OF_D1[strands, field]


def test_dp2_of_the_worked_example_with_three_n() -> None:
    of_d1 = worked().sel(d_gene="TRBD1*01", nu=3)
    assert of_d1.paths_full.values.tolist() == [40, 648, 3294, 10432, 25500]
    assert not of_d1.paths_zero_length_d.values.any()


def test_dp1_of_the_worked_example() -> None:
    found = worked(model="dp1")
    nonempty = found.dp1_paths_nonempty.sel(d_gene="TRBD1*01")
    assert nonempty.sel(total_n=range(11)).values.tolist() == DP1_NONEMPTY
    assert found.dp1_paths_empty_unit.values.tolist() == DP1_EMPTY_UNIT
    total = found.dp1_paths.sel(d_gene="TRBD1*01")
    assert total.values.tolist()[6:] == [137, 400, 720, 1094, 1525]


def test_calls_of_the_worked_example() -> None:
    found = worked()
    lengths = [found[name].item() for name in ("length", "v_length", "j_length")]
    assert lengths == [36, 14, 17]
    assert [found[name].item() for name in ("v_match", "j_match", "vj_distance")] == [14, 15, 7]
    assert found.ndn_composition.sel(nucleotide=list("ATCG")).values.tolist() == [0, 1, 2, 4]
    of_d = ("d_length", "d_first", "d_last", "vd_distance", "dj_distance")
    first, second = (found.sel(d_gene=name) for name in GENES)
    assert [first[name].item() for name in of_d] == [4, 18, 28, 3, -7]
    assert [second[name].item() for name in of_d] == [6, 16, 21, 1, 0]
    assert first.n1_composition.values.tolist() == [0, 1, 2, 0]  # T, C, C
    assert not first.n2_composition.values.any()


@pytest.mark.parametrize(("strands", "beyond"), [(1, [4, 3, 2, 1]), (2, [8, 6, 4, 2])])
def test_multiplicities_of_a_v_of_ten(strands: int, beyond: list[int]) -> None:
    """Section 3: fragments of V and its palindrome alone; J is eroded in all its ways."""
    extended, whole = "AAAAAAAAAA" + "TTTT", 4 * strands + 1
    fragments = [extended[:length] for length in range(1, 15)]
    found = count_paths(fragments, "A" * 10, "CCCC", {}, strands=strands)
    ways = found.paths_no_d.sel(nu=0, pi=4) / whole
    assert ways.values.tolist() == [whole] * 10 + beyond


def test_n_strings_of_wildcards() -> None:
    """Section 6: NNNTARNNN, all of it n-nucleotides; V and J, of C alone, are eroded or match N.

    Only from TAR on can nothing of them match: products of w are 1, 1, 2, 8, 32.
    """
    found = count_paths(["TA", "TAR", "TARNNNG"], "CCCC", "CCCC", {}, max_p=0)
    assert found.paths_no_d.sel(nu=9, pi=0).values.tolist() == [1, 2, 128]
    assert found.paths_no_d.sel(nu=6, pi=0).values.tolist() == [1, 2, 0]


def test_sequential_is_not_simultaneous() -> None:
    """Section 6: DP-1 takes TCCCGG from extended D, DP-2 makes a palindrome of what follows."""
    found = count_paths(["TCCCGG"], "AAAA", "AAAA", {"D": "GGGACAGGGGG"}, model="both")
    found = found.isel(reference=0, d_gene=0)
    assert found.dp1_paths_nonempty.sel(total_n=0).item() == 1
    assert found.paths_full.sel(nu=0, pi=4).item() == 0


def test_hidden_paths() -> None:
    """Section 3 counts 50 and 162 ways to A in the simultaneous model.

    In the sequential one A has also the palindromes of a T that follows it: there is none here, so
    that only V and J are to be divided by. D's own left palindrome is not matched.
    """
    for strands, ways in ((1, 50), (2, 162)):
        found = count_paths(["A"], "CCCC", "CCCC", {"D1": D1}, strands=strands)
        both_ends_eroded = (4 * strands + 1) ** 2
        assert found.paths_full.sel(nu=0, pi=4).item() == ways * both_ends_eroded
