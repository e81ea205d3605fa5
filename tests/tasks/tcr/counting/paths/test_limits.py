"""Counts at the edge of what fits, and input that cannot be counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr
from helpers.tcr_cases import Case, assert_counts, assert_dataset, counted, expected, fields_of

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr import Model, count_paths

# exactness

ALMOST = 2**64 - 2**40  # that much is left to the rounding of what is known before counting


def wild_case(length: int, model: Model, letter: str = "N", gene: int = 20) -> Case:
    d = {"D": letter * gene, "E": letter * 8}
    parts = (letter * length,), (letter * gene,), (letter * gene,)
    return Case(f"{letter}{length}", *parts, d, model)


def exact_or_refused(case: Case) -> bool:
    """Whether it was counted; then exactly. What is refused is large, and is named."""
    wanted, found = expected(case), counted_or_refused(case)
    if isinstance(found, xr.Dataset):
        assert_counts(fields_of(found), wanted)
        return True
    largest = max(int(np.max(values)) for values in wanted.values())
    assert largest >= ALMOST, f"{case} is refused though at most {largest} paths are counted"
    assert "reference 0" in found
    assert "64 bits" in found
    return False


def counted_or_refused(case: Case) -> xr.Dataset | str:
    """The counts, or the message that there are none."""
    try:
        return counted(case)
    except BadParams as error:
        return str(error)


@pytest.mark.parametrize("length", [10, 20, 30])
@pytest.mark.parametrize("strands", [1, 2])
def test_wildcards_beyond_53_bits(length: int, strands: Any) -> None:
    exact_or_refused(wild_case(length, Model("both", strands, max_n=9)))


def test_wildcards_beyond_64_bits() -> None:
    model = Model("dp2", 2)
    largest = max(map(int, expected(wild_case(60, model))["full"].ravel()))
    assert largest > 2**64
    assert not exact_or_refused(wild_case(60, model))


@pytest.mark.parametrize(
    ("cdr3", "gene", "d", "fits"),
    [("N" * 26 + "BB", 14, 30, True), ("N" * 29 + "B" * 6, 6, 30, False)],
    ids=["0.993", "1.0004"],
)
def test_counts_beside_the_limit(cdr3: str, gene: int, d: int, fits: bool) -> None:
    model = Model("dp2", 2)
    case = Case("beside", (cdr3,), ("N" * gene,), ("N" * gene,), {"D": "N" * d}, model)
    largest = int(np.max(expected(case)["full"]))
    assert abs(largest / 2**64 - 1) < 0.01
    assert (largest < 2**64) == fits
    assert exact_or_refused(case) == fits


@pytest.mark.full
def test_two_d_genes_of_wildcards_beyond_64_bits() -> None:
    model = Model("dp2", 2, max_p=2, d_segments=2)
    largest = max(map(int, expected(wild_case(24, model))["full"].ravel()))
    assert largest > 2**64
    assert not exact_or_refused(wild_case(24, model))
    assert exact_or_refused(wild_case(8, model))


@pytest.mark.full
@pytest.mark.parametrize(("letter", "strands"), [("N", 2), ("R", 2), ("B", 1)])
def test_wildcards_around_64_bits(letter: str, strands: Any) -> None:
    """Both happen on the way from short to long references, and nothing else does."""
    model = Model("both", strands)
    found = [exact_or_refused(wild_case(length, model, letter)) for length in range(8, 60, 4)]
    assert found[0]
    assert found == sorted(found, reverse=True)


def test_wildcards_in_dp1() -> None:
    """DP-1's counts are smaller: none is refused that fits."""
    for length in (12, 40, 80):
        assert exact_or_refused(wild_case(length, Model("dp1"), gene=10))


def test_a_reference_that_does_not_fit_is_named() -> None:
    wild = "N" * 60
    with pytest.raises(BadParams, match=r"reference 2\b.*64 bits"):
        count_paths(["ACGT", "NNN", wild, wild], "N" * 20, "N" * 20, {"D": "N" * 20}, strands=2)


REPETITIVE = [  # as many places and as many ways as one symbol can have
    Case("A", ("A" * 60,), ("A" * 60,), ("A" * 60,), {"D": "A" * 56}),
    Case("wild D", ("A" * 60,), ("A" * 60,), ("N" * 60,), {"D": "N" * 56}),
    Case("AT", ("AT" * 30,), ("AT" * 30,), ("AT" * 30,), {"D": "AT" * 28}),
]


@pytest.mark.full
@pytest.mark.parametrize("case", REPETITIVE, ids=str)
def test_repetitive_genes(case: Case) -> None:
    """Sums of rows of concrete references stay within the narrow words that hold them."""
    for strands, min_d_end in ((1, 1), (2, 0)):
        assert_dataset(replace(case, model=Model("both", strands, min_d_end=min_d_end)))


@pytest.mark.full
@pytest.mark.parametrize(
    ("unit", "models"),
    [
        ("A", [("dp2", 2, 10)]),
        ("AT", [("dp2", 1, 2)]),
        ("N", [("dp2", 2, 10), ("dp1", 1, 5)]),
        ("GATTACA", [("dp2", 1, 2), ("dp1", 1, 5)]),
    ],
    ids=["A", "AT", "N", "GATTACA"],
)
def test_longest_references(unit: str, models: list[tuple[str, int, int]]) -> None:
    cdr3 = (unit * 255)[:255]
    parts = (cdr3,), ((unit * 30)[:30],), ((unit * 24)[-24:],)
    case = Case("longest", *parts, {"D": (unit * 56)[:56], "E": (unit * 9)[:9]})
    for kind, strands, max_n in models:
        exact_or_refused(replace(case, model=Model(kind, strands, 4, max_n)))


# bad input


def call(**changed: Any) -> None:
    given: dict[str, Any] = {"cdr3": ["ACGTACGT"], "v": "ACGTA", "j": "TACGT", "d": {"D1": "GGGAC"}}
    given |= changed
    cdr3, v, j, d = (given.pop(name) for name in ("cdr3", "v", "j", "d"))
    count_paths(cdr3, v, j, d, **given)


BAD = {
    "no nucleotide": ({"cdr3": ["ACGT", "ACXGT"]}, r"reference 1: .*'X' at position 3"),
    "gap": ({"cdr3": ["AC-GT"]}, r"reference 0: .*'-' at position 3"),
    "space": ({"cdr3": ["ACGT "]}, r"reference 0: .*' ' at position 5"),
    "amino acids": ({"cdr3": ["CASSLGF"]}, r"reference 0: .*'L' at position 5"),
    "beyond ASCII": ({"cdr3": ["ACGT", "AÅGT"]}, r"reference 1: .*'Å' at position 2"),
    "beyond Latin-1": ({"cdr3": ["AC\N{DNA DOUBLE HELIX}"]}, r"reference 0: .*position 3"),
    "null": ({"cdr3": ["AC\0"]}, r"reference 0: .*position 3"),
    "empty": ({"cdr3": ["ACGT", ""]}, "reference 1: .* is empty"),
    "empty and wrong": ({"cdr3": ["ACGT", "", "X"]}, "reference 1: .* is empty"),
    "wrong and empty": ({"cdr3": ["ACGT", "X", ""]}, r"reference 1: .*'X'"),
    "too long": ({"cdr3": ["ACGT", "A" * 256]}, r"reference 1: .*256 nucleotides.*255"),
    "far too long": ({"cdr3": ["A" * 10_000_000]}, r"reference 0: .*10000000 nucleotides.*255"),
    "one string": ({"cdr3": "ACGTACGT"}, "cdr3 must be a sequence of strings"),
    "bytes": ({"cdr3": [b"ACGT"]}, "reference 0: .* must be a string"),
    "missing": ({"cdr3": ["ACGT", None]}, "reference 1: .* must be a string"),
    "not a number": ({"cdr3": [float("nan")]}, "reference 0: .* must be a string"),
    "V of no nucleotides": ({"v": "ACGZ"}, r"V part: 'Z' at position 4"),
    "empty V": ({"v": ""}, "V part is empty"),
    "short V": ({"v": "ACG"}, "V part has 3 nucleotides, fewer than max_p = 4"),
    "too few V": ({"cdr3": ["A", "C"], "v": ["ACGTA"]}, "v must be one .* 2 references; got 1"),
    "too many J": ({"j": ["ACGTA", "ACGTA"]}, "j must be one .* 1 references; got 2"),
    "wrong J of one": (
        {"cdr3": ["A", "C"], "j": ["ACGTA", "AC?TA"]},
        r"reference 1: the J part: '\?' at position 3",
    ),
    "missing J of one": ({"cdr3": ["A", "C"], "j": ["ACGTA", None]}, "reference 1: the J part"),
    "short V with all": ({"v": "ACG", "max_p": "all"}, "V part has 3 nucleotides, fewer than"),
    "no word for it": ({"max_p": "most"}, "max_p must be in 0..255, got 'most'"),
    "short D": ({"d": {"D1": "GGGAC", "D2": "GGG"}}, "D gene D2 has 3 nucleotides, fewer than"),
    "empty D": ({"d": {"D1": ""}}, "D gene D1 is empty"),
    "long D": ({"d": {"D1": "G" * 256}}, "D gene D1 has 256 nucleotides; at most 255"),
    "D of other letters": ({"d": {"D1": "GGG.C"}}, r"D gene D1: '\.' at position 4"),
    "D without names": ({"d": ["GGGAC"]}, "d must map names of D genes to sequences"),
    "D no string": ({"d": {"D1": None}}, "D gene D1 must be a string"),
    "one D for two": ({"d_segments": 2}, "two D genes in a row need at least 2 D genes, got 1"),
    "two D in DP-1": (
        {"d_segments": 2, "model": "dp1", "d": {"a": "GGGAC", "b": "GGGAC"}},
        "counted by dp2 only",
    ),
    "unknown model": ({"model": "dp3"}, "model must be dp1, dp2 or both"),
    "three strands": ({"strands": 3}, "strands must be in 1..2"),
    "long palindromes": ({"max_p": 256}, "max_p must be in 0..255"),
    "many n": ({"max_n": 256}, "max_n must be in 0..255"),
    "negative n": ({"max_n": -1}, "max_n must be in 0..255"),
    "half an n": ({"max_n": 2.5}, "max_n must be in 0..255"),
    "max_p no number": ({"max_p": True}, "max_p must be in 0..255, got True"),
    "nothing": ({"cdr3": None}, "cdr3 must be a sequence of strings; got NoneType"),
    "a number": ({"cdr3": 5}, "cdr3 must be a sequence of strings; got int"),
    "two dimensions": ({"cdr3": np.array([["ACGT"]])}, "cdr3 must be .* 2 dimensions of ndarray"),
    "V of lists": ({"v": [["ACGTA"]]}, "reference 0: the V part must be a string"),
    "no J": ({"j": None}, "j must be a string or a sequence"),
    "D named by numbers": ({"d": {(1, 2): "GGGAC"}}, r"name of a D gene .* got \(1, 2\)"),
    "three D": ({"d_segments": 3}, "d_segments must be in 1..2"),
    "cut beyond D": ({"min_d_end": 2}, "min_d_end must be in 0..1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    changed, message = BAD[name]
    with pytest.raises(BadParams, match=message):
        call(**changed)


def test_no_references() -> None:
    """An empty chunk of a store is nothing wrong."""
    for given in ({"d": {"D1": "GGGAC"}, "model": "both"}, {"d": {}}):
        found = count_paths([], "ACGTA", "TACGT", **given)
        assert found.sizes["reference"] == 0
        assert found.paths_no_d.shape == (0, 11, 5)
        assert found.paths_no_d.dtype == np.uint64


def test_no_references_with_parts_of_each() -> None:
    assert count_paths([], [], [], {"D1": "GGGAC"}).sizes["reference"] == 0


def test_any_sequences_of_strings() -> None:
    """Tuples, NumPy's strings, pandas' columns, xarray's variables."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    texts = ["ACGTACGT", "ACGTT"]
    wanted = count_paths(texts, ["ACGTA"] * 2, "TACGT", {"D1": "GGGAC"})
    xarrays = [lambda x, dtype=dtype: xr.DataArray(np.array(x, dtype)) for dtype in (str, object)]
    for kind in (tuple, np.array, pandas.Series, lambda x: np.array(x, dtype=object), *xarrays):
        found = count_paths(kind(texts), kind(["ACGTA"] * 2), "TACGT", {"D1": "GGGAC"})
        own = {"dim_0": "reference"} if "dim_0" in found.dims else {}  # of a DataArray
        assert found.rename(own).identical(wanted)


def test_arrays_of_arrow_and_numbers_of_numpy() -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    texts = ["ACGTACGT", "ACGTT"]
    wanted = count_paths(texts, ["ACGTA"] * 2, "TACGT", {"D1": "GGGAC"}, max_n=3)
    v = arrow.chunked_array([["ACGTA"], ["ACGTA"]])
    given = arrow.array(texts).dictionary_encode()
    found = count_paths(given, v, "TACGT", {"D1": "GGGAC"}, max_n=np.int64(3))
    assert found.identical(wanted)
    assert type(found.attrs["max_n"]) is int


def test_labels_of_columns_are_no_positions() -> None:
    """Errors name rows by their position, whatever a column of a table calls them."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for wrong, message in (
        ("N" * 60, "64 bits"),
        ("AXC", "'X'"),
        ("A" * 256, "255"),
        ("", "empty"),
    ):
        column = pandas.Series(["ACGT", wrong], index=[7, 9])
        with pytest.raises(BadParams, match=f"reference 1.*{message}"):
            count_paths(column, "N" * 20, "N" * 20, {"D": "N" * 20}, strands=2)
