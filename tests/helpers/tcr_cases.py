"""References with their genes, and what every backend must count of them.

What is expected comes from the slow reference, or from vectors.json where the data folder is there.
Everything is under the names of the fields of Counts.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import xarray as xr
from conftest import shared_folder
from reference import tcr

from gangsaw.tasks.tcr import count_paths
from gangsaw.tasks.tcr.counting.kernels.batch import D_CALLS, GENE_CALLS, Batch
from gangsaw.tasks.tcr.counting.paths.count import make_batch
from gangsaw.tasks.tcr.model import Model

Expected = dict[str, npt.NDArray[Any]]  # arrays of Python's integers


@dataclass(frozen=True)
class Case:
    """What is handed to count_paths: V and J parts one for each reference."""

    name: str
    cdr3: tuple[str, ...]
    v: tuple[str, ...]
    j: tuple[str, ...]
    d: Mapping[str, str]
    model: Model = Model("both")  # noqa: RUF009  (it is frozen)

    def __str__(self) -> str:
        """Return the name, for pytest."""
        return self.name

    @property
    def choices(self) -> list[tuple[str, ...]]:
        """The D genes, or the pairs of them that can follow one another."""
        if self.model.d_segments == 1:
            return [(gene,) for gene in self.d.values()]
        return list(itertools.combinations(self.d.values(), 2))


def expected(case: Case) -> Expected:
    """Return what the slow reference counts, in the layout of Counts, of the models asked for."""
    rows = [
        _of_one(case, *map(tcr.encode, parts))
        for parts in zip(case.cdr3, case.v, case.j, strict=True)
    ]
    return {field: np.array([row[field] for row in rows], dtype=object) for field in rows[0]}


def _of_one(case: Case, r: tcr.Codes, v: tcr.Codes, j: tcr.Codes) -> dict[str, Any]:
    found = _calls(case, r, v, j)
    if case.model.dp1:
        found |= _dp1(case, r, v, j)
    if case.model.dp2:
        found |= _dp2(case, r, v, j)
    return found


def rules(model: Model) -> tcr.Rules:
    """Return what the reference calls these parameters."""
    return tcr.Rules(model.strands, model.max_p, model.min_d_end)


def _calls(case: Case, r: tcr.Codes, v: tcr.Codes, j: tcr.Codes) -> dict[str, Any]:
    p = case.model.max_p
    genes, ndn = tcr.gene_calls(r, v, j, p)
    found: dict[str, Any] = {"genes": genes, "ndn": ndn}
    found |= {field: [] for field in ("d", "n1", "n2") if case.d}
    for gene in map(tcr.encode, case.d.values()):
        events = list(tcr.d_events(r, gene, rules(case.model)))
        for field, values in zip(("d", "n1", "n2"), tcr.d_calls(r, v, j, events, p), strict=True):
            found[field].append(values)
    return found


def _dp1(case: Case, r: tcr.Codes, v: tcr.Codes, j: tcr.Codes) -> dict[str, Any]:
    limits = case.model.max_p, case.model.max_n
    if not case.d:
        return {"dp1_nonempty": [tcr.dp1_without_d(r, v, j, *limits)]}
    genes = map(tcr.encode, case.d.values())
    return {
        "dp1_nonempty": [tcr.dp1(r, v, j, gene, *limits) for gene in genes],
        "dp1_empty": tcr.dp1_empty_unit(r, v, j, *limits),
    }


def _dp2(case: Case, r: tcr.Codes, v: tcr.Codes, j: tcr.Codes) -> dict[str, Any]:
    rule = rules(case.model)
    pis = case.model.pis
    n_matrices = [tcr.n_matrix(r, nu) for nu in case.model.nus]

    def swept(parts: list[list[tcr.Matrix]]) -> list[list[int]]:
        return [
            [tcr.dp2(r, v, j, n, [part[i] for part in parts], pi, rule) for i, pi in enumerate(pis)]
            for n in n_matrices
        ]

    matrices, diagonals = {}, {}
    for gene in case.d.values():
        d = tcr.encode(gene)
        events = list(tcr.d_events(r, d, rule))
        matrices[gene] = [tcr.d_matrix_of(r, d, events, pi, rule) for pi in pis]
        diagonals[gene] = [tcr.d_diagonal(r, d, pi, rule) for pi in pis]
    found = {"no_d": swept([]), "no_d_two": swept([[tcr.identity(r)] * len(pis)])}
    if case.d:
        found["full"] = [swept([matrices[d] for d in choice]) for choice in case.choices]
        found["zero"] = [swept([diagonals[d] for d in choice]) for choice in case.choices]
    return found


def assert_counts(got: Mapping[str, Any], wanted: Expected) -> None:
    """Hold counts and calls, under the names of Counts' fields, against what is expected.

    Values are compared as Python's integers: neither a wrapped sum nor a rounded one passes.
    """
    for field, values in wanted.items():
        assert got[field] is not None, f"{field} is missing"
        found = np.asarray(got[field])
        assert found.dtype.kind in "uiO", f"{field} is no array of integers but of {found.dtype}"
        np.testing.assert_array_equal(found.astype(object), values, err_msg=field)


# the worked example of the source: TRBV1, TRBD1, TRBD2 and TRBJ1-1 of the mouse

V, J = "ACCTGCAGTGCAGA", "CAAACACAGAAGTCTTC"
D1, D2 = "GGGACAGGGGGC", "GGGACTGGGGGGGC"
WORKED = "ACCTGCAGTGCAGACCTGGGGAACACAGAAGTCTTC"
DP1_NONEMPTY = [0, 0, 0, 2, 13, 47, 137, 232, 342, 464, 601]  # of D1, by total n
DP1_EMPTY_UNIT = [0, 0, 0, 0, 0, 0, 0, 8, 18, 30, 44]
DP2_OF_D1 = {  # (strands, field): at nu = 10, pi = 0..4
    (1, "full"): [11904, 196984, 1027080, 3341504, 8392000],
    (1, "zero"): [6480, 108000, 568620, 1866240, 4725000],
    (1, "no_d"): [10, 40, 90, 160, 250],
    (1, "no_d_two"): [540, 2160, 4860, 8640, 13500],
    (2, "full"): [11904, 1008234, 8022000, 31733674, 89206272],
    (2, "zero"): [6480, 554040, 4455000, 17781120, 50388480],
}


# what is likely to be got wrong


def text_of(code: int) -> str:
    """Return the letter of a code."""
    return next(letter for letter, known in tcr.CODES.items() if known == code)


def rc_text(text: str) -> str:
    """Return the reverse complement in letters."""
    return "".join(map(text_of, tcr.rc(tcr.encode(text))))


CORNERS = {  # name: references, V, J, D genes
    "one symbol": (["A", "C", "G", "T", "N"], V, J, [D1]),
    "two and three symbols": (["AC", "TC", "NN", "GGG", "ATG", "NNN"], V, J, [D1]),
    "V is the reference": ([V, V + "TCTG", V[:5], V + "TCT"], V, J, [D1]),
    "J is the reference": ([J, "TTTG" + J, J[-5:], "TTG" + J], V, J, [D1]),
    "D is the reference": ([D1, "TCCC" + D1 + "GCCC", D1[3:7], rc_text(D1)], V, J, [D1]),
    "shorter than V and J together": ([V[:9] + J[-8:], V[:3] + J[-2:]], V, J, [D1]),
    "V and J overlap": (["ACACACAC", "ACACA"], "ACACAC", "CACAC", ["CACA"]),
    "D longer than the reference": (["GGGACAG", "GG"], "AAAA", "TTTT", ["G" * 56, D1 * 4]),
    "D as long as palindromes": (["ACGTACGT", "ACGTGTCC"], "ACGT", "ACGT", ["ACGT", "GGAC"]),
    "V and J as long as palindromes": (["ACGTACGT", "CCGGCC"], "ACGT", "CCGG", [D1]),
    "nothing matches": (["TTTTTTTT"], "CCCCCC", "CCCCCC", ["CCCCCC"]),
    "one letter": (["A" * 30], "A" * 12, "A" * 12, ["A" * 14, "A" * 56]),
    "palindromes everywhere": (["AT" * 14, "ACGT" * 6], "ATATAT", "ATATAT", ["ATAT", "TATATA"]),
    "wildcards in genes": (["ACGTACGTAC", "ANNA"], "ACNNRY", "NNACGT", ["NNNN", "ARYN", "BDHV"]),
    "wildcards alone": (["N" * 9, "RY" * 5, "SWKM" * 2], "NNNNNN", "NNNNN", ["NNNNN"]),
    "n-nucleotides alone": (["TTTTTTTTTT", "T" * 20, "T" * 21], "CCCC", "CCCC", ["CCCC"]),
}


def corner(name: str, model: Model) -> Case:
    """Return a case that is likely to be got wrong."""
    cdr3, v, j, d = CORNERS[name]
    genes = {f"D{i}": gene for i, gene in enumerate(d)}
    return Case(name, tuple(cdr3), (v,) * len(cdr3), (j,) * len(cdr3), genes, model)


# from the variables of a dataset

VARIABLES = {
    "full": "paths_full",
    "zero": "paths_zero_length_d",
    "no_d": "paths_no_d",
    "no_d_two": "paths_no_d_two_junctions",
    "dp1_nonempty": "dp1_paths_nonempty",
    "dp1_empty": "dp1_paths_empty_unit",
    "ndn": "ndn_composition",
    "n1": "n1_composition",
    "n2": "n2_composition",
}


def batch_of(case: Case) -> Batch:
    """Return what a backend is given of a case."""
    return make_batch(case.cdr3, case.v, case.j, case.d, case.model)


def counted(case: Case) -> xr.Dataset:
    """Return what count_paths makes of a case."""
    m = case.model
    return count_paths(
        list(case.cdr3),
        list(case.v),
        list(case.j),
        dict(case.d),
        model=m.kind,
        strands=m.strands,
        max_p=m.max_p,
        max_n=m.max_n,
        d_segments=m.d_segments,
        min_d_end=m.min_d_end,
    )


def fields_of(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the variables of count_paths' dataset under the names of Counts' fields."""
    found = {
        field: dataset[variable].values
        for field, variable in VARIABLES.items()
        if variable in dataset
    }
    if "dp1_paths" in dataset and "dp1_nonempty" not in found:  # V-J: there is no D to tell apart
        found["dp1_nonempty"] = dataset.dp1_paths.values[:, None]
    for field, calls in (("genes", GENE_CALLS), ("d", D_CALLS)):
        if calls[0] in dataset:
            found[field] = np.stack([dataset[call].values for call in calls], axis=-1)
    return found


def assert_dataset(case: Case, wanted: Expected | None = None) -> xr.Dataset:
    """Count a case and hold everything against the reference, DP-1's totals too."""
    dataset = counted(case)
    wanted = expected(case) if wanted is None else wanted
    assert_counts(fields_of(dataset), wanted)
    if case.model.dp1 and case.d:
        ways = [tcr.dp1_empty_ways(tcr.encode(d), case.model.max_p) for d in case.d.values()]
        unit = wanted["dp1_empty"][:, None] * np.array(ways, dtype=object)[:, None]
        totals = {"dp1_paths": wanted["dp1_nonempty"] + unit}
        assert_counts({"dp1_paths": dataset.dp1_paths.values}, totals)
    return dataset


# vectors.json

ATCG = "ATCG"
REGION = ("L", "gV", "gJ", "mV", "mJ", "dVJ")
REGION_D = ("max_d_len", "min_d_pos", "max_d_pos", "dVD", "dDJ")


@cache
def vectors() -> dict[str, Any]:
    """Return vectors.json, or nothing where the data folder is absent."""
    path: Path = shared_folder() / "data" / "tcr" / "vectors.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def vector_cases() -> list[tuple[Case, Expected]]:
    """Return every case of vectors.json, once for each number of strands and each e_min."""
    data = vectors()
    return [
        *_trb_cases(data.get("cases", [])),
        *_vj_cases(data.get("vj_cases", [])),
        *_vddj_cases(data.get("vddj_cases", [])),
    ]


def vector_parameters() -> list[Any]:
    """Parameters of a test over all these cases; one that is skipped where there are none."""
    if not vectors():
        absent = pytest.mark.skip(reason=f"no data/tcr/vectors.json in {shared_folder()}")
        return [pytest.param(None, None, id="absent", marks=absent)]
    return [pytest.param(*pair, id=pair[0].name) for pair in vector_cases()]


def _trb_cases(entries: list[dict[str, Any]]) -> list[tuple[Case, Expected]]:
    found = []
    for entry, strands, end in itertools.product(entries, (1, 2), (1, 0)):
        suffix = "" if end else "_emin0"
        if "dp2" + suffix not in entry["expected"]:
            continue
        assert entry["numax"] == entry["nmax"]
        model = Model("both", strands, entry["pmax"], entry["numax"], min_d_end=end)
        name = f"{entry['id']}-{entry['kind']}-strands{strands}{suffix}"
        case = Case(name, (entry["ref"],), (entry["v"],), (entry["j"],), entry["d"], model)
        found.append((case, _trb_expected(entry, strands, suffix)))
    return found


def _trb_expected(entry: dict[str, Any], strands: int, suffix: str) -> Expected:
    whole, names = entry["expected"], list(entry["d"])
    dp2, region = whole["dp2" + suffix][f"strands{strands}"], whole["region" + suffix]
    dp1 = [whole["dp1"][name] for name in names]
    of_d = [region["D"][name] for name in names]
    values = {
        "full": [dp2["full"][name] for name in names],
        "zero": [dp2["zero"][name] for name in names],
        "no_d": dp2["no_d"],
        "no_d_two": dp2["no_d_text"],
        "dp1_nonempty": [table["nonempty"] for table in dp1],
        "dp1_empty": dp1[0]["empty_unit"],
        "genes": [region[key] for key in REGION],
        "ndn": [region["ndn"][base] for base in ATCG],
        "d": [[calls[key] for key in REGION_D] for calls in of_d],
        "n1": [[calls["n1"][base] for base in ATCG] for calls in of_d],
        "n2": [[calls["n2"][base] for base in ATCG] for calls in of_d],
    }
    return {field: np.array([value], dtype=object) for field, value in values.items()}


def _vj_cases(entries: list[dict[str, Any]]) -> list[tuple[Case, Expected]]:
    found = []
    for entry, strands in itertools.product(entries, (1, 2)):
        case = Case(
            f"{entry['v_allele']}-{entry['j_allele']}-strands{strands}",
            (entry["ref"],),
            (entry["v"],),
            (entry["j"],),
            {},
            Model("dp2", strands),
        )
        found.append((case, {"no_d": np.array([entry[f"strands{strands}"]], dtype=object)}))
    return found


def _vddj_cases(entries: list[dict[str, Any]]) -> list[tuple[Case, Expected]]:
    found = []
    for entry, strands in itertools.product(entries, (1, 2)):
        case = Case(
            f"{entry['d_v_side']}-{entry['d_j_side']}-strands{strands}",
            (entry["ref"],),
            (entry["v"],),
            (entry["j"],),
            {entry["d_v_side"]: entry["da"], entry["d_j_side"]: entry["db"]},
            Model("dp2", strands, d_segments=2),
        )
        found.append((case, {"full": np.array([[entry[f"strands{strands}"]]], dtype=object)}))
    return found
