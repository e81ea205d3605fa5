"""Palindromes and junctions of any length: against the fast kernels, and against the reference."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from helpers.tcr_cases import (
    CORNERS,
    D1,
    D2,
    WORKED,
    Case,
    J,
    V,
    assert_counts,
    assert_dataset,
    batch_of,
    corner,
    counted,
    expected,
    fields_of,
    rc_text,
)
from helpers.tcr_strategies import cases
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr import count_paths
from gangsaw.tasks.tcr.counting.kernels import cpu, gpu
from gangsaw.tasks.tcr.counting.kernels.wide import cpu as wide
from gangsaw.tasks.tcr.counting.paths.bounds import countable
from gangsaw.tasks.tcr.model import MAX_LENGTH, MOST, Model
from gangsaw.tasks.tcr.store import values

LONG_TURN = V[:9] + "TTAC" + rc_text(V[3:9]) + "GGACAGG" + "ACGGATCTTAAGGCTTTAC" + J[5:]
D = {"D1": D1, "D2": D2}
WITHOUT_LIMITS = [
    Model.of("both", max_p="all", max_n="all"),
    Model.of("dp2", strands=2, max_p="all", max_n=17, min_d_end=0),
    Model.of("dp2", strands=2, max_p=9, max_n="all"),
    Model.of("dp1", max_p="all", max_n=3),
]
FAST = [Model("both", 2, min_d_end=0), Model("dp1", max_p=2), Model("dp2", d_segments=2, max_n=3)]


@pytest.mark.full
@pytest.mark.parametrize("name", CORNERS)
def test_the_usual_limits_give_the_same(name: str) -> None:
    """What has vectors is counted to the same integers without them."""
    for model in FAST:
        case = corner(name, model)
        if model.d_segments == 2 and len(case.d) < 2:
            case = replace(case, d=case.d | {"other": "GATTACA"})
        batch = batch_of(case)
        wanted, found = cpu.count(batch, model), wide.count_wide(batch, model)
        for field in fields(wanted):
            one, other = getattr(wanted, field.name), getattr(found, field.name)
            np.testing.assert_array_equal(one, other, err_msg=f"{field.name} of {model}")


@pytest.mark.parametrize("model", WITHOUT_LIMITS, ids=str)
def test_no_limits(model: Model) -> None:
    cdr3 = (LONG_TURN, WORKED, "ACGTNRACGT", "A")
    assert_dataset(Case("no limits", cdr3, (V,) * 4, (J,) * 4, D, model))


def test_no_limits_without_d() -> None:
    model = Model.of("both", strands=2, max_p="all", max_n="all")
    case = Case("V-J", (LONG_TURN, "ACGTNR"), (V,) * 2, (J,) * 2, {}, model)
    assert_dataset(case, {k: v for k, v in expected(case).items() if "d" not in k.split("_")[:1]})


def test_no_limits_with_two_d_genes() -> None:
    model = Model.of("dp2", max_p=6, max_n="all", d_segments=2)
    short = {"D1": "GGGACAG", "D2": "GATTACA"}
    assert_dataset(Case("V-D-D-J", (LONG_TURN[5:30],), (V,), (J,), short, model))


@given(
    cases(
        st.builds(
            Model,
            st.sampled_from(["dp1", "dp2", "both"]),
            st.sampled_from([1, 2]),
            st.sampled_from([5, 7, MOST]),
            st.sampled_from([0, 3, 16, MOST]),
            min_d_end=st.sampled_from([0, 1]),
        )
    )
)
def test_any_case_without_limits(case: Case) -> None:
    assert_counts(fields_of(counted(case)), expected(case))


def test_palindromes_are_as_long_as_their_gene() -> None:
    """No longer one changes anything, and a long one is a path of its own."""
    v, j = "ACCGT", "GGTAC"
    whole = [v + rc_text(v) + j, v + rc_text(j) + j]
    limits: dict[str, Any] = {"model": "dp2", "max_n": 0}
    at = [count_paths(whole, v, j, max_p=p, **limits) for p in (4, 5, 6, "all")]
    found = [one.paths_no_d[:, 0, -1].values.tolist() for one in at]
    assert found[0] == [0, 0]
    assert found[1] == [1 * 6, 6 * 1]
    assert found[1] == found[2] == found[3]


def test_any_number_of_n_nucleotides() -> None:
    """One of 255 is the last that there can be."""
    cdr3 = "T" * MAX_LENGTH
    found = count_paths([cdr3], "CCCC", "CCCC", model="both", max_p=0, max_n="all")
    assert found.dp1_paths[0].values.nonzero()[0].tolist() == [MAX_LENGTH]
    assert found.paths_no_d[0, -1].values.tolist() == [1]
    assert found.paths_no_d[0, :-1].values.sum() == 0
    assert found.paths_no_d_two_junctions[0, -1, 0] == MAX_LENGTH + 1


@pytest.mark.full
@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("kind", ["dp1", "dp2"])
def test_what_passes_64_bits_is_refused_and_nothing_else(kind: Any) -> None:
    """References of ever more wildcards fit up to one length, and from there on none does."""
    model = Model.of(kind, max_p=0, max_n="all")
    lengths = range(20, 36)
    case = Case(
        "wild",
        tuple("N" * n for n in lengths),
        ("CCCC",) * len(lengths),
        ("CCCC",) * len(lengths),
        {"D": "GGGA"},
        model,
    )
    wanted = expected(case)
    whole = [np.abs(values).reshape(len(lengths), -1).max(axis=1) for values in wanted.values()]
    if kind == "dp1":
        emptied = wanted["dp1_empty"][:, None] * 5 + wanted["dp1_nonempty"]
        whole.append(emptied.reshape(len(lengths), -1).max(axis=1))
    fits = np.max(np.array(whole, object), axis=0) < 2**64
    assert 0 < fits.sum() < len(lengths)
    found = countable(batch_of(case), model)
    np.testing.assert_array_equal(found, fits.astype(bool))
    few = int(fits.sum())
    fitting = replace(case, cdr3=case.cdr3[:few], v=case.v[:few], j=case.j[:few])
    assert_counts(fields_of(counted(fitting)), {k: v[:few] for k, v in wanted.items()})
    with pytest.raises(BadParams, match=f"reference {few}: .*64 bits"):
        counted(case)


def test_the_device_leaves_them_to_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "count_hosted", lambda *_: pytest.fail("no kernel has these limits"))
    model = Model.of("dp2", max_p=5)
    batch = batch_of(Case("one", (WORKED,), (V,), (J,), D, model))
    found = values.count_on_device(batch, model)
    np.testing.assert_array_equal(found.full, wide.count_wide(batch, model).full)
