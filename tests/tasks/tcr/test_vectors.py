"""count_paths against the expected outputs, and the worked examples as a user asks for them."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from helpers.tcr_cases import (
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
from helpers.tcr_cases import vector_parameters as vectors

from gangsaw.tasks.tcr import Model, count_paths

GENES = {"TRBD1*01": D1, "TRBD2*01": D2}


@pytest.mark.parametrize(("case", "wanted"), vectors())
def test_vector(case: Case, wanted: Expected) -> None:
    assert_dataset(case, wanted)


def worked(**choices: Any) -> xr.Dataset:
    return count_paths([WORKED], V, J, GENES, **choices).isel(reference=0)


@pytest.mark.parametrize(("strands", "field"), DP2_OF_D1)
def test_dp2_of_the_worked_example(strands: int, field: str) -> None:
    found = worked(strands=strands)[VARIABLES[field]].sel(n_nucleotides=10)
    if "d_gene" in found.dims:
        found = found.sel(d_gene="TRBD1*01")
    assert found.sel(p_nucleotides=[0, 1, 2, 3, 4]).values.tolist() == DP2_OF_D1[strands, field]


def test_dp2_of_the_worked_example_with_three_n() -> None:
    of_d1 = worked().sel(d_gene="TRBD1*01", n_nucleotides=3)
    assert of_d1.paths_full.values.tolist() == [40, 648, 3294, 10432, 25500]
    assert not of_d1.paths_zero_length_d.values.any()


def test_dp1_of_the_worked_example() -> None:
    found = worked(model="dp1")
    nonempty = found.dp1_paths_nonempty.sel(d_gene="TRBD1*01")
    assert nonempty.sel(total_n_nucleotides=range(11)).values.tolist() == DP1_NONEMPTY
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
    """Fragments of V and its palindrome alone; J is eroded in all its ways."""
    extended, whole = "AAAAAAAAAA" + "TTTT", 4 * strands + 1
    fragments = [extended[:length] for length in range(1, 15)]
    found = count_paths(fragments, "A" * 10, "CCCC", {}, strands=strands)
    ways = found.paths_no_d.sel(n_nucleotides=0, p_nucleotides=4) / whole
    assert ways.values.tolist() == [whole] * 10 + beyond


def test_n_strings_of_wildcards() -> None:
    """NNNTARNNN, all of it n-nucleotides; V and J, of C alone, are eroded or match N.

    Only from TAR on can nothing of them match: products of w are 1, 1, 2, 8, 32.
    """
    found = count_paths(["TA", "TAR", "TARNNNG"], "CCCC", "CCCC", {}, max_p=0)
    assert found.paths_no_d.sel(n_nucleotides=9, p_nucleotides=0).values.tolist() == [1, 2, 128]
    assert found.paths_no_d.sel(n_nucleotides=6, p_nucleotides=0).values.tolist() == [1, 2, 0]


def test_sequential_is_not_simultaneous() -> None:
    """DP-1 takes TCCCGG from extended D, DP-2 makes a palindrome of what follows."""
    found = count_paths(["TCCCGG"], "AAAA", "AAAA", {"D": "GGGACAGGGGG"}, model="both")
    found = found.isel(reference=0, d_gene=0)
    assert found.dp1_paths_nonempty.sel(total_n_nucleotides=0).item() == 1
    assert found.paths_full.sel(n_nucleotides=0, p_nucleotides=4).item() == 0


def test_hidden_paths() -> None:
    """The source counts 50 and 162 ways to A in the simultaneous model.

    In the sequential one A has also the palindromes of a T that follows it: there is none here, so
    that only V and J are to be divided by. D's own left palindrome is not matched.
    """
    for strands, ways in ((1, 50), (2, 162)):
        found = count_paths(["A"], "CCCC", "CCCC", {"D1": D1}, strands=strands)
        both_ends_eroded = (4 * strands + 1) ** 2
        assert (
            found.paths_full.sel(n_nucleotides=0, p_nucleotides=4).item() == ways * both_ends_eroded
        )


def germline(shared: Path, organism: str, chain: str) -> dict[str, str]:
    """Parts of all genes, first alleles also under the name of their gene."""
    table = shared / "data" / "tcr" / "germline" / "germline_cdr3_parts.tsv"
    parts: dict[str, str] = {}
    with table.open() as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["organism"] == organism and row["chain"] == chain and row["status"] == "ok":
                name = row["allele"]
                parts[name] = row["cdr3_part"].upper()
                parts.setdefault(name.partition("*")[0], parts[name])
    return parts


def human_rows(shared: Path) -> list[tuple[str, str, str]]:
    path = shared / "data" / "tcr" / "human_TRB" / "A4-i125.txt.gz"
    with gzip.open(path, "rt") as lines:
        return [
            (row["cdr3nt"], row["v"], row["j"]) for row in csv.DictReader(lines, delimiter="\t")
        ]


def mouse_rows(shared: Path, chain: str) -> list[tuple[str, str, str]]:
    names = {"TRA": ("cdr3_a_nucseq", "v_a_gene", "j_a_gene")}
    names["TRB"] = ("cdr3_b_nucseq", "v_b_gene", "j_b_gene")
    with (shared / "data" / "tcr" / "mouse" / "dash.csv").open() as lines:
        return [tuple(map(row.__getitem__, names[chain])) for row in csv.DictReader(lines)]


@pytest.mark.full
@pytest.mark.parametrize("strands", [1, 2])
@pytest.mark.parametrize(
    ("organism", "chain"), [("human", "TRB"), ("mouse", "TRB"), ("mouse", "TRA")]
)
def test_real_references(shared: Path, organism: str, chain: str, strands: Any) -> None:
    parts = germline(shared, organism, chain)
    rows = human_rows(shared) if organism == "human" else mouse_rows(shared, chain)
    known = [row for row in rows if len(row[0]) > 6 and row[1] in parts and row[2] in parts]
    assert len(known) > 0.8 * len(rows)
    cdr3, v, j = zip(*random.Random(strands).sample(known, 30), strict=True)
    d = {name: part for name, part in parts.items() if name[3] == "D" and "*" in name}
    assert len(d) == {"human": 3, "mouse": 2}[organism] * (chain == "TRB")
    genes = (tuple(parts[name] for name in names) for names in (v, j))
    model = Model("both", strands, min_d_end=strands - 1)
    assert_dataset(Case("real", tuple(text[3:-3].upper() for text in cdr3), *genes, d, model))
