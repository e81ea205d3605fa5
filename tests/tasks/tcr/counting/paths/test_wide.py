"""D genes that are longer than a word, and junctions of more than the usual n-nucleotides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.tcr_cases import Case, assert_dataset

from gangsaw.codecs.core.errors import DeviceError
from gangsaw.tasks.tcr import Model
from gangsaw.tasks.tcr.counting.kernels import cpu, gpu
from gangsaw.tasks.tcr.counting.kernels.tables import WORD_D
from gangsaw.tasks.tcr.counting.paths.count import make_batch
from gangsaw.tasks.tcr.store import values

V, J = "ACCTGCAGTGCAGA", "CAAACACAGAAGTCTTC"
# as IGHD8-2 of cattle: repeats of Gly and Tyr codons, with Cys; here in the length of the real one
COW = (
    "GTAGTTGTCCTGATGGTTATAGTTATGGTTATGGTTGTGGTTATGGTTATGGTTGTAGTGGTTATGATTGTTATGGTTATGGTGGTTATGGTGG"
    * 2
)[:149]
LONG = {"cow": COW[70:140], "short": "GGGACAGGGGGC"}


def case(model: Model, d: dict[str, str], inside: str) -> Case:
    cdr3 = (V[:12] + "G" + inside + "TA" + J[5:], "ACGTNRYACG")
    return Case("long D", cdr3, (V,) * 2, (J,) * 2, d, model)


@pytest.mark.full
@pytest.mark.parametrize(
    "model",
    [
        Model("both", max_n=2),
        Model("dp2", 2, max_p=2, max_n=1, min_d_end=0),
        Model("dp1", max_p=0, max_n=2),
        Model("dp2", max_p=1, d_segments=2, max_n=1),
    ],
    ids=str,
)
def test_long_d_genes(model: Model) -> None:
    assert_dataset(case(model, LONG, COW[78:96]))


@pytest.mark.full
@pytest.mark.parametrize("model", [Model("both", max_n=4), Model("dp2", d_segments=2)], ids=str)
def test_a_d_gene_of_cattle(model: Model) -> None:
    assert_dataset(case(model, {"cow": COW, "short": LONG["short"]}, COW[40:112]))


@pytest.mark.parametrize("size", [WORD_D, WORD_D + 1, WORD_D + 5])
def test_lengths_about_that_of_a_word(size: int) -> None:
    d = {"D": COW[:size]}
    model = Model("both", 2, max_n=1, min_d_end=0)
    assert_dataset(case(model, d, COW[size - 12 : size] + "AT"))


@pytest.mark.full
def test_as_many_places_as_there_can_be() -> None:
    """Neither the rows of ways nor the lists of places overflow."""
    poly = Case("A", ("A" * 120,), ("A" * 40,), ("A" * 40,), {"D": "A" * 149}, Model("both", 2))
    assert_dataset(poly)


def test_the_device_leaves_them_to_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise DeviceError("no kernel")

    monkeypatch.setattr(gpu, "count_hosted", refuse)
    model = Model()
    long = make_batch(["ACGTACGT"], V, J, LONG, model)
    assert np.array_equal(values.count_on_device(long, model).full, cpu.count(long, model).full)
    with pytest.raises(DeviceError):
        values.count_on_device(make_batch(["ACGTACGT"], V, J, {"D": "GGGAC"}, model), model)


MANY = [
    Model("both", max_n=15),
    Model("dp2", 2, max_n=13, min_d_end=0),
    Model("dp2", 1, max_p=2, max_n=15, d_segments=2),
]


@pytest.mark.parametrize("model", MANY, ids=str)
def test_many_n_nucleotides(model: Model) -> None:
    cdr3 = (V[:9] + "TTTACGATTAGCATC" + "GGACAGG" + "ACGGATCTTAAGGCT" + J[5:], "ACGTWACGTN")
    d = {"D1": "GGGACAGGGGGC", "D2": "GGGACTGGGGGGGC"}
    assert_dataset(Case("many n", cdr3, (V,) * 2, (J,) * 2, d, model))
