"""Clonotypes of amino acids: equal to a plain group-by of translated rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.tcr_stores import V_GENES, Made, repertoires, write_counts

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.sharing import share as module
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.sharing.translate import in_frame, translated
from gangsaw.tasks.tcr.statistics.associate import associate

SAMPLES = ("ann", "ben", "cem")
# of each amino acid its codons, written out from NCBI's translation table 1
CODONS = {
    "F": "TTT TTC", "L": "TTA TTG CTT CTC CTA CTG", "I": "ATT ATC ATA", "M": "ATG",
    "V": "GTT GTC GTA GTG", "S": "TCT TCC TCA TCG AGT AGC", "P": "CCT CCC CCA CCG",
    "T": "ACT ACC ACA ACG", "A": "GCT GCC GCA GCG", "Y": "TAT TAC", "*": "TAA TAG TGA",
    "H": "CAT CAC", "Q": "CAA CAG", "N": "AAT AAC", "K": "AAA AAG", "D": "GAT GAC",
    "E": "GAA GAG", "C": "TGT TGC", "W": "TGG", "R": "CGT CGC CGA CGG AGA AGG",
    "G": "GGT GGC GGA GGG",
}  # fmt: skip
AMINO_ACID = {codon: letter for letter, codons in CODONS.items() for codon in codons.split()}


def slow(text: str) -> str:
    return "".join(AMINO_ACID.get(text[i : i + 3].upper(), "X") for i in range(0, len(text), 3))


def test_every_codon_is_translated() -> None:
    assert len(AMINO_ACID) == 64
    texts = [*AMINO_ACID, "", "TGTNNNgcc", "".join(AMINO_ACID), "RAA"]
    found = translated(pa.array(texts))
    assert found.to_pylist() == [slow(text) for text in texts]
    assert translated(pa.array(texts)[5:60]).to_pylist() == found.to_pylist()[5:60]
    assert in_frame(pa.array(["", "A", "ACG", "ACGT"])).tolist() == [True, False, True, False]
    assert translated(pa.array([], pa.string())).to_pylist() == []


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A store of short CDR3s, many of which are variants of one another."""
    rng = np.random.default_rng(3)
    rows = repertoires(2, 800, SAMPLES)
    pool = ["".join(rng.choice(["GCA", "GCC", "GCG", "TGG"], 3)) for _ in range(60)] + ["GCAA"]
    rows["cdr3"] = rng.choice(np.array(pool, object), len(rows))
    return write_counts(tmp_path / "a.zarr", rows, SAMPLES)


def expected(made: Made, keys: list[str]) -> pd.DataFrame:
    rows = made.rows.assign(first_reference=np.arange(len(made.rows)))
    pairs = made.data["d_pairs_with_j"].values[:, rows["j"]].T
    full = made.data["paths_full"].isel(nu=-1, pi=-1).values * pairs
    rows["paths"] = full.sum(1) + made.data["paths_no_d"].isel(nu=-1, pi=-1).values
    rows = rows[rows["cdr3"].str.len() % 3 == 0]
    rows["cdr3_aa"] = rows["cdr3"].map(slow)
    rows["frequency"] = rows["copies"] / rows.groupby("sample")["copies"].transform("sum")
    grouped = rows.groupby(keys, sort=False)
    found = grouped.agg(
        individuals=("sample", "nunique"),
        copies=("copies", "sum"),
        frequency_sum=("frequency", "sum"),
        first_reference=("first_reference", "first"),
    )
    each = rows.drop_duplicates(["cdr3", "v", "j"]).groupby(keys)
    found["variants"], found["paths"] = each.size(), each["paths"].sum()
    found["owners"] = grouped["sample"].agg(lambda samples: sorted(set(samples)))
    return found.reset_index()


@pytest.mark.parametrize(("by", "keys"), [("aa", ["cdr3_aa"]), ("aa-v", ["cdr3_aa", "v"])])
@pytest.mark.parametrize("run_rows", [1 << 18, 70])
def test_equals_a_plain_group_by(
    made: Made,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    by: str,
    keys: list[str],
    run_rows: int,
) -> None:
    monkeypatch.setattr(module, "RUN_ROWS", run_rows)
    monkeypatch.setattr(module, "PART_ROWS", 2 * run_rows)
    found = share([str(made.path)], tmp_path / "a.parquet", by=by)
    wanted = expected(made, keys)
    if "v" in keys:
        wanted["v"] = np.array(V_GENES, object)[wanted["v"]]
    table = pq.read_table(tmp_path / "a.parquet").to_pandas()
    assert [each.tolist() for each in table.pop("owners")] == wanted.pop("owners").tolist()
    pd.testing.assert_frame_equal(table[wanted.columns], wanted, check_dtype=False, rtol=1e-12)
    assert ("v" in table) == (by == "aa-v")
    means = wanted.groupby("individuals")["variants"].mean()
    assert found.variants == pytest.approx(means.to_dict())
    n_out = int((made.rows["cdr3"] == "GCAA").sum())
    assert f"{n_out} rows out of frame have no amino acids: left out" in found.notes


def test_associate_takes_nucleotypes_alone(made: Made, tmp_path: Path) -> None:
    share([str(made.path)], tmp_path / "a.parquet", by="aa")
    with pytest.raises(BadParams, match="holds amino-acid clonotypes: associate needs nucleotypes"):
        associate([str(made.path)], tmp_path / "a.parquet")
    with pytest.raises(BadParams, match="by must be nt, aa or aa-v, got 'protein'"):
        share([str(made.path)], tmp_path / "b.parquet", by="protein")
