"""Probabilities of generation are olga's own, NaN with a reason where there is none."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from helpers.command_line import CommandLine
from helpers.tcr_olga import write_donors

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr import Model, Setup, count_repertoires, open_germline, open_inputs
from gangsaw.tasks.tcr.pgen import olga as module
from gangsaw.tasks.tcr.pgen.olga import PgenBatch, pgen_model, pgens
from gangsaw.tasks.tcr.statistics.generation import model_of
from gangsaw.tasks.tcr.store.counts_store import CountsStore

# olga's documentation of compute_nt_CDR3_pgen has this example
JUNCTION, V, J = "TGTGCCTGGAGTGTAGCTCCGGACAGGGGTGGCTACACCTTC", "TRBV30*01", "TRBJ1-2*01"
DOCUMENTED = 2.3986503758867323e-12
CDR3 = JUNCTION[3:-3]


def one(cdr3: str, v: str = V, j: str = J, locus: str = "TRB") -> tuple[float, dict[str, int]]:
    values, reasons = pgens(PgenBatch((cdr3,), (v,), (j,)), pgen_model(locus, "human"))
    return float(values[0]), dict(reasons)


def test_the_documented_example() -> None:
    assert one(CDR3) == (pytest.approx(DOCUMENTED, rel=1e-9), {})
    assert one(CDR3, "TRBV30", "TRBJ1-2") == (pytest.approx(DOCUMENTED, rel=1e-9), {})


def test_an_allele_that_the_model_lacks_goes_by_its_gene() -> None:
    assert one(CDR3, "TRBV30*99") == one(CDR3, "TRBV30")


@pytest.mark.parametrize(
    ("cdr3", "v", "reason"),
    [
        (CDR3[1:], V, module.OUT_OF_FRAME),
        ("N" + CDR3[1:], V, module.NOT_ACGT),
        (CDR3, "TRBV99", module.NO_GENE),
        ("TAA" * 9, V, module.IMPOSSIBLE),
    ],
)
def test_what_has_none_says_why(cdr3: str, v: str, reason: str) -> None:
    value, reasons = one(cdr3, v)
    assert math.isnan(value)
    assert reasons == {reason: 1}


def test_a_chain_without_d() -> None:
    value, reasons = one("GCTGTGAGAGACAGCAACTATCAGTTAATC", "TRAV1-1", "TRAJ33", "TRA")
    assert reasons == {}
    assert 0 < value < 1e-3


@pytest.mark.parametrize(
    ("attrs", "species", "name"),
    [
        ({"germline": "olga 1.3.0 human_T_beta", "germline_locus": "TRB"}, None, "human_T_beta"),
        ({"germline": "genes.tsv (mouse)", "germline_locus": "TRB"}, None, "mouse_T_beta"),
        ({"germline": "x.fasta", "germline_locus": "IGH"}, "human", "human_B_heavy"),
    ],
)
def test_the_species_is_what_the_germline_says(
    attrs: dict[str, object], species: str | None, name: str
) -> None:
    store = CountsStore("a.zarr", "", 0, {}, attrs, {}, {})
    assert model_of(store, species).name == name


def test_a_locus_without_a_model_is_refused() -> None:
    store = CountsStore("a.zarr", "", 0, {}, {"germline_locus": "TRD"}, {}, {})
    with pytest.raises(BadParams, match="need the species"):
        model_of(store, None)
    with pytest.raises(BadParams, match="olga has no model of TRD"):
        model_of(store, "human")


def test_paths_beside_probabilities(tmp_path: Path, gangsaw: CommandLine) -> None:
    """Cells of one V and J that olga draws, in three donors: both tell what is shared."""
    files = write_donors(tmp_path, 4, 400)
    store, table = tmp_path / "a.zarr", tmp_path / "a.parquet"
    setup = Setup(open_germline("olga", locus="TRB", species="mouse"), Model("dp2", max_n=6))
    count_repertoires(open_inputs(files), str(store), setup)
    gangsaw.ok("tcr", "share", store, table)
    command = ("tcr", "associate", store, table, "--pgen", "80", "--json")
    found = gangsaw.ok(*command).figures["generation"]
    assert found["model"] == "mouse_T_beta"
    assert found["sampled"] <= 80
    assert found["shared"] > 8
    pgen, paths, shortness = found["aucs"]
    assert (pgen["column"], shortness["column"]) == ("Pgen", "shortness")
    assert pgen["auc"] > 0.7
    assert paths["auc"] > 0.6
    assert 0.3 < found["rho"] < 1
    assert gangsaw.ok(*command).figures["generation"] == found, "the sample is seeded"
    out = gangsaw.ok(*command[:-1]).out
    assert "compared with olga's mouse_T_beta" in out
    assert np.isfinite(found["odds"]["coefficients"][0]["odds_ratio"])
