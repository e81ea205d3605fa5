"""The slow reference against the vectors and the worked examples: it judges the fast one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers import tcr_cases
from helpers.tcr_cases import (
    DP1_EMPTY_UNIT,
    DP1_NONEMPTY,
    DP2_OF_D1,
    Case,
    Expected,
    assert_counts,
    expected,
    vector_cases,
    vector_parameters,
    vectors,
)
from reference import tcr
from reference.tcr import Rules, encode

from gangsaw.tasks.tcr.model import Model

ONE, TWO = Rules(1), Rules(2)
V, J, D1, D2, WORKED = map(
    encode, (tcr_cases.V, tcr_cases.J, tcr_cases.D1, tcr_cases.D2, tcr_cases.WORKED)
)


@pytest.mark.parametrize(("case", "wanted"), vector_parameters())
def test_vector(case: Case, wanted: Expected) -> None:
    assert_counts(expected(case), wanted)


def test_all_vectors_are_there(shared: Path) -> None:
    data = vectors()
    assert [len(data[kind]) for kind in ("cases", "vj_cases", "vddj_cases")] == [14, 3, 1]
    alternatives = sum("dp2_emin0" in entry["expected"] for entry in data["cases"])
    assert alternatives == 5
    assert len(vector_cases()) == 2 * (14 + alternatives) + 2 * 3 + 2


def test_ways_to_empty_a_d_of_the_vectors(shared: Path) -> None:
    for entry in vectors()["cases"]:
        for name, table in entry["expected"]["dp1"].items():
            ways = tcr.dp1_empty_ways(encode(entry["d"][name]), entry["pmax"])
            assert ways == table["n_empty"]
            pairs = zip(table["nonempty"], table["empty_unit"], strict=True)
            assert [full + ways * unit for full, unit in pairs] == table["total"]


def test_small_tables_of_the_vectors(shared: Path) -> None:
    data = vectors()
    table = data["match_counts"]
    assert tcr.match_counts(encode(table["R"]), encode(table["D"])) == table["S"]
    table = data["self_palindromes"]
    lengths = [tcr.self_palindrome(encode(table["R"]), q) for q in range(len(table["R"]) + 1)]
    assert lengths == table["len_at_boundary"]
    table = data["N_matrix_first_row"]
    assert first_row(table["R"], table["nu"]) == table["row"]
    for strands, word in ((1, "one"), (2, "two")):
        wanted = data["multiplicity"][f"{word}_strand_pi4_g10"]
        assert [tcr.s(length - 10, 4, strands) for length in range(15)] == wanted
    for target in "AT":
        found = [tcr.hidden_paths(encode(target), D1, 4, strands) for strands in (1, 2)]
        assert found == data["hidden_paths_D1"][target]


def first_row(text: str, nu: int) -> list[int]:
    matrix = tcr.n_matrix(encode(text), nu)
    return [matrix.get((0, j), 0) for j in range(len(text) + 1)]


# symbols


def test_palindromes_at_free_ends() -> None:
    assert tcr.extended_v(V, 4) == encode("ACCTGCAGTGCAGA" + "TCTG")
    assert tcr.extended_j(J, 4) == encode("TTTG" + "CAAACACAGAAGTCTTC")
    assert tcr.extended_d(D1, 4) == encode("TCCC" + "GGGACAGGGGGC" + "GCCC")
    assert tcr.extended_d(D1, 0) == D1


def test_complement_swaps_bits_of_every_set() -> None:
    for code in range(16):
        swapped = (code & 1) << 1 | (code & 2) >> 1 | (code & 4) << 1 | (code & 8) >> 1
        assert tcr.complement(code) == swapped


# gene ends


def test_multiplicities_of_a_v_of_ten() -> None:
    for strands, beyond in ((1, [4, 3, 2, 1]), (2, [8, 6, 4, 2])):
        whole = 4 * strands + 1
        counts = [tcr.s(length - 10, 4, strands) for length in range(15)]
        assert counts == [whole] * 11 + beyond
        only = [tcr.extension_only(length - 10, 4, strands) for length in range(15)]
        assert only == [0] * 10 + [1] + [strands] * 4


def test_multiplicities_are_the_closed_forms() -> None:
    for pi in range(5):
        for dl in range(-20, 7):
            assert tcr.s(dl, pi, 1) == max(0, min(pi + 1, pi + 1 - dl))
            assert tcr.s(dl, pi, 2) == max(0, min(2 * pi + 1, 2 * (pi + 1 - dl)))


@pytest.mark.parametrize("d", ["GGGACAGGGGGC", "GGGACAGGGGG"])
def test_hidden_paths(d: str) -> None:
    """The text prints D1 with 12 and with 11 symbols; one strand's counts hold for both."""
    gene = encode(d)
    for target, wanted in (("A", [50, 162]), ("T", [5, 18])):
        assert [tcr.hidden_paths(encode(target), gene, 4, strands) for strands in (1, 2)] == wanted


# DP-1


def test_match_counts() -> None:
    rows = tcr.match_counts(encode("GAAATCCT"), encode("AAT"))
    assert rows == [
        [0, 2, 2, 2, 1, 0, 0, 1],
        [0, 1, 1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]


# DP-2


def test_n_strings_of_wildcards() -> None:
    assert first_row("NNNTARNNN", 9) == [1, 4, 16, 64, 64, 64, 128, 512, 2048, 8192]
    matrix = tcr.n_matrix(encode("NNNTARNNN"), 3)
    assert {matrix[i, i] for i in range(10)} == {1}
    assert (0, 4) not in matrix
    assert matrix[5, 8] == 32


def test_self_palindromes() -> None:
    r = encode("GCCAGCAGTCATGCATGGGAACAGTAC")
    found = {q: tcr.self_palindrome(r, q) for q in range(len(r) + 1)}
    assert {q: t for q, t in found.items() if t} == {1: 1, 5: 1, 11: 2, 13: 4, 15: 2, 25: 2}


def test_sequential_is_not_simultaneous() -> None:
    r, d = encode("TCCCGGAAGTCTTC"), encode("GGGACAGGGGG")
    assert tcr.occurrences(r[0:6], tcr.extended_d(d, 4)) == 1
    matrix = tcr.d_matrix(r, d, 4, ONE)
    assert (0, 6) not in matrix
    assert matrix[2, 6] == tcr.s(2, 4, 1) * tcr.s(-9, 4, 1) == 3 * 5


@pytest.mark.parametrize(("rules", "wanted"), [(ONE, 350), (TWO, 1152)])
def test_ways_to_erode_a_d_completely(rules: Rules, wanted: int) -> None:
    assert set(tcr.d_diagonal(WORKED, D1, 4, rules).values()) == {wanted}
    for pi in range(5):
        closed = [(pi + 1) ** 2 * (12 + pi / 2), (2 * pi + 1) * ((2 * pi + 1) * 12 + pi * (pi + 1))]
        found = set(tcr.d_diagonal(WORKED, D1, pi, rules).values())
        assert found == {closed[rules.strands - 1]}


# the worked example of the source


def test_region_calls_of_the_worked_example() -> None:
    assert tcr.gene_calls(WORKED, V, J, 4) == ([36, 14, 17, 14, 15, 7], [0, 1, 2, 4])
    events = list(tcr.d_events(WORKED, D1, ONE))
    wanted = [4, 18, 28, 3, -7], [0, 1, 2, 0], [0, 0, 0, 0]
    assert tcr.d_calls(WORKED, V, J, events, 4) == wanted
    longest = sorted((event.a, event.b) for event in events if event.b - event.a == 4)
    outer = [WORKED[slice(*longest[end])] for end in (0, -1)]
    assert outer == [encode("GGGG"), encode("ACAG")]
    events = list(tcr.d_events(WORKED, D2, ONE))
    assert tcr.d_calls(WORKED, V, J, events, 4)[0] == [6, 16, 21, 1, 0]


def test_dp1_of_the_worked_example() -> None:
    assert tcr.occurrences(WORKED[17:21], tcr.extended_d(D1, 4)) == 2
    nonempty = tcr.dp1(WORKED, V, J, D1, 4, 10)
    unit = tcr.dp1_empty_unit(WORKED, V, J, 4, 10)
    assert nonempty == DP1_NONEMPTY
    assert unit == DP1_EMPTY_UNIT
    assert tcr.dp1_empty_ways(D1, 4) == 21
    total = [full + 21 * empty for full, empty in zip(nonempty, unit, strict=True)]
    assert total[6:] == [137, 400, 720, 1094, 1525]


@pytest.mark.parametrize(("strands", "field"), DP2_OF_D1)
def test_dp2_of_the_worked_example(strands: int, field: str) -> None:
    found = [dp2_of_d1(field, 10, pi, Rules(strands)) for pi in range(5)]
    assert found == DP2_OF_D1[strands, field]


def test_dp2_of_the_worked_example_with_three_n() -> None:
    found = [dp2_of_d1("full", 3, pi, ONE) for pi in range(5)]
    assert found == [40, 648, 3294, 10432, 25500]
    assert [dp2_of_d1("zero", 3, pi, ONE) for pi in range(5)] == [0] * 5


def dp2_of_d1(field: str, nu: int, pi: int, rules: Rules) -> int:
    parts = {
        "full": lambda: [tcr.d_matrix(WORKED, D1, pi, rules)],
        "zero": lambda: [tcr.d_diagonal(WORKED, D1, pi, rules)],
        "no_d": list,
        "no_d_two": lambda: [tcr.identity(WORKED)],
    }[field]()
    return tcr.dp2(WORKED, V, J, tcr.n_matrix(WORKED, nu), parts, pi, rules)


def test_expected_values_are_exact_integers() -> None:
    """Counts beyond 64 bits stay Python's integers on their way through the arrays."""
    case = Case("wild", ("N" * 60,), ("N" * 20,), ("N" * 20,), {"d": "N" * 20}, Model("dp2", 2))
    values = expected(case)["full"]
    assert values.dtype == object
    assert int(np.max(values)) > 2**64
