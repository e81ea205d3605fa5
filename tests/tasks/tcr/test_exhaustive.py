"""The constructive method against the slow reference, on tiny genes."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from helpers.tcr_strategies import Parts, tiny
from reference import tcr

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr import exhaustive as module
from gangsaw.tasks.tcr.exhaustive import Constructed, Table, exhaustive
from gangsaw.tasks.tcr.model import Model


def computed(parts: Parts, choices: dict[str, Any]) -> Constructed:
    """What the slow reference says of it."""
    r, v, j = map(tcr.encode, parts[:3])
    genes = [tcr.encode(gene) for gene in parts[3]]
    if choices["model"] == "dp1":
        return _computed_dp1(r, v, j, genes, choices)
    model = Model.of("dp2", max_p=choices["max_p"], max_n=choices["max_n"])
    rules = tcr.Rules(choices["strands"], model.max_p, choices["min_d_end"])
    n_matrices = [tcr.n_matrix(r, nu) for nu in model.nus]
    tables = []
    for of_d in (tcr.d_matrix, tcr.d_diagonal):
        matrices = [[of_d(r, gene, pi, rules) for gene in genes] for pi in model.pis]
        tables.append(
            tuple(
                tuple(
                    tcr.dp2(r, v, j, n, parts, pi, rules)
                    for pi, parts in zip(model.pis, matrices, strict=True)
                )
                for n in n_matrices
            )
        )
    return Constructed(*tables)


def _computed_dp1(
    r: tcr.Codes, v: tcr.Codes, j: tcr.Codes, genes: list[tcr.Codes], choices: dict[str, Any]
) -> Constructed:
    paths, empties = [], []
    model = Model.of("dp1", max_p=choices["max_p"], max_n=choices["max_n"])
    for pi in model.pis:
        if not genes:
            paths.append(tcr.dp1_without_d(r, v, j, pi, model.max_n))
            empties.append(paths[-1])
            continue
        unit = tcr.dp1_empty_unit(r, v, j, pi, model.max_n)
        empties.append([tcr.dp1_empty_ways(genes[0], pi) * count for count in unit])
        nonempty = tcr.dp1(r, v, j, genes[0], pi, model.max_n)
        paths.append([a + b for a, b in zip(nonempty, empties[-1], strict=True)])
    return Constructed(tuple(zip(*paths, strict=True)), tuple(zip(*empties, strict=True)))


def check(seed: int) -> None:
    parts, choices = tiny(random.Random(seed))
    assert exhaustive(*parts, **choices) == computed(parts, choices), (parts, choices)


def test_brute_force_agrees() -> None:
    for seed in range(60):
        check(seed)


@pytest.mark.full
@pytest.mark.parametrize("hundred", range(1, 5))
def test_brute_force_agrees_for_long(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        check(seed)


def test_brute_force_without_d() -> None:
    for seed in range(100):
        parts, choices = tiny(random.Random(seed), n_genes=0)
        assert exhaustive(*parts, **choices) == computed(parts, choices), (parts, choices)


@pytest.mark.full
def test_brute_force_with_two_d_genes() -> None:
    found = 0
    for seed in range(6):
        parts, choices = tiny(random.Random(seed), n_genes=2)
        choices |= {"model": "dp2", "max_p": 1, "max_n": seed % 2}
        constructed = exhaustive(*parts, **choices)
        assert constructed == computed(parts, choices), (parts, choices)
        found += constructed.paths[-1][-1] > 0
    assert found >= 3


LIMITS = [
    {"max_p": "all", "max_n": "all"},
    {"max_p": "all", "max_n": 1},
    {"max_p": 1, "max_n": "all"},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_brute_force_without_limits(
    limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Palindromes as long as the gene, and any number of n-nucleotides; what takes long is left."""
    monkeypatch.setattr(module, "MAX_MOLECULES", 300_000)
    found: dict[str, int] = {"dp1": 0, "dp2": 0}
    for seed in range(1000):
        parts, choices = tiny(random.Random(seed), shortest=4, longest=6, length=5)
        if found[choices["model"]] == 3:
            continue
        choices |= limits
        with suppress(BadParams):
            assert exhaustive(*parts, **choices) == computed(parts, choices), (parts, choices)
            found[choices["model"]] += 1
    assert found == {"dp1": 3, "dp2": 3}


def with_wildcards(rng: random.Random, text: str) -> str:
    return "".join(rng.choice(letter + "NRY"[: rng.randint(0, 3)]) for letter in text)


def test_wildcards_are_exact_in_dp1_and_without_palindromes() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        parts, choices = tiny(rng)
        choices["max_p"] *= choices["model"] == "dp1"
        genes = [with_wildcards(rng, part) for part in (*parts[1:3], *parts[3])]
        parts = with_wildcards(rng, parts[0]), genes[0], genes[1], genes[2:]
        assert exhaustive(*parts, **choices) == computed(parts, choices), (parts, choices)


def test_palindromes_of_wildcards_are_bounded_from_above() -> None:
    """Pairs of wildcards that are compatible count once for all in DP-2.

    SPEC.md, "Resolutions".
    """
    less = 0
    for seed in range(8):
        rng = random.Random(seed)
        parts, choices = tiny(rng)
        choices |= {"model": "dp2", "max_n": 1}
        parts = with_wildcards(rng, parts[0]), *parts[1:]
        exact, bound = exhaustive(*parts, **choices), computed(parts, choices)
        assert exact.zero_length_d == bound.zero_length_d
        pairs = list(zip(flat(exact.paths), flat(bound.paths), strict=True))
        assert all(low <= high for low, high in pairs)
        less += any(low < high for low, high in pairs)
    assert less


def flat(table: Table) -> list[int]:
    return [count for row in table for count in row]


def test_paths_by_hand() -> None:
    """AT of V = A and J = T, D = G eroded: each n-string and each way to erode, nothing else."""
    none = exhaustive("AT", "A", "T", (), model="dp2", max_p=0, max_n=2)
    # one path without n; A or T as n; both as n
    assert none.paths == ((1,), (3,), (4,))
    found = exhaustive("AT", "A", "T", "G", model="dp2", max_p=0, max_n=0)
    assert found.paths == found.zero_length_d == ((1,),)
    found = exhaustive("AT", "A", "T", "G", model="dp1", max_p=0, max_n=0)
    assert found.paths == found.zero_length_d == ((2,),)  # cut before or after G
    # G at last: with one palindrome symbol, V = A extends to AT and J = T to AT
    found = exhaustive("AT", "A", "T", (), model="dp2", max_p=1, max_n=0, strands=2)
    # (A, T): 3 x 3 ways; (AT, none) and (none, AT): 2 x 3 each
    assert found.paths == ((1, 9 + 6 + 6),)


def test_part_of_the_worked_example() -> None:
    parts = "GAGGGCA", "GA", "CA", "GGGC"
    for model, wanted in (("dp1", 66), ("dp2", 11223)):
        choices: dict[str, Any] = {"model": model, "strands": 1, "max_p": 2, "max_n": 2}
        choices["min_d_end"] = 1
        found = exhaustive(*parts, **choices)
        assert found == computed((*parts[:3], [parts[3]]), choices)
        assert found.paths[-1][-1] == wanted


def test_the_work_is_bounded_before_it_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is announced is never less than what would be constructed."""
    made = 0
    fits = module._fits

    def counting(symbols: bytes, reference: bytes) -> bool:
        nonlocal made
        made += 1
        return fits(symbols, reference)

    for seed in range(10):
        rng = random.Random(seed)
        parts, choices = tiny(rng)
        choices["max_n"] = rng.randint(0, 1)
        parts = with_wildcards(rng, parts[0]), *parts[1:]
        made = 0
        with monkeypatch.context() as patch:
            patch.setattr(module, "_fits", counting)
            exhaustive(*parts, **choices)
        with monkeypatch.context() as patch:
            patch.setattr(module, "MAX_MOLECULES", made - 1)
            with pytest.raises(BadParams, match="molecules would have to be constructed"):
                exhaustive(*parts, **choices)


def test_large_work_is_refused() -> None:
    with pytest.raises(BadParams, match=r"up to [0-9,]{13,} molecules .* more than 10,000,000"):
        exhaustive("ACCTGCAGTGCAGAC", "ACCTGCAGTGCAGA", "CAAACA", "GGGACAGGGGGC", max_n=10)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cdr3": ""}, "cdr3 is empty"),
        ({"cdr3": "AXC"}, "cdr3: 'X' at position 2"),
        ({"v": "A-"}, "v: '-' at position 2"),
        ({"d": ["A", ""], "model": "dp2"}, "d is empty"),
        ({"d": ["A", "C", "G"], "model": "dp2"}, "d_segments must be in"),
        ({"d": ["A", "C"]}, "two D genes in a row are counted by dp2 only"),
        ({"j": "T", "max_p": 2}, "j has 1 nucleotides, fewer than max_p, 2"),
        ({"model": "both"}, "model must be dp1 or dp2 here"),
        ({"max_n": -1}, "max_n must be in 0..255"),
        ({"max_p": 256}, "max_p must be in 0..255"),
        ({"strands": 3}, "strands must be in 1..2"),
    ],
)
def test_bad_input(changed: dict[str, Any], message: str) -> None:
    given = {"cdr3": "ACG", "v": "AC", "j": "GT", "d": "GG"} | changed
    with pytest.raises(BadParams, match=message):
        exhaustive(**given)
