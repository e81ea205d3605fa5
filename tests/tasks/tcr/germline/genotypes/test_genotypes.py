"""Per-donor alleles: the table, what calls mean, what is counted, and what is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from helpers.command_line import CommandLine
from helpers.tcr_runs import Repertoires, germline, records, setup, written
from helpers.tcr_tables import Record

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.tcr import count_paths
from gangsaw.tasks.tcr.germline import AMBIGUOUS, UNKNOWN, Part, Resolver
from gangsaw.tasks.tcr.germline.genotypes.genotypes import Genotypes, Lacking
from gangsaw.tasks.tcr.germline.genotypes.table import read_genotypes
from gangsaw.tasks.tcr.store.setup import Setup

HEADER = "subject\tgene\talleles\tnote\n"
ROWS = "a\tTRBD2\t02\t\nb\tTRBD2\tTRBD2*01\t\nb\tTRBD1\tDel\t\nc\tTRBV5-1\tUnk\t\n"
N = 40
HERE = ("--workers", 0)


def table(folder: Path, rows: str, header: str = HEADER) -> Path:
    path = folder / "genotypes.tsv"
    path.write_text(header + rows)
    return path


def genotypes(folder: Path, rows: str = ROWS) -> Genotypes:
    own = germline()
    path = table(folder, rows)
    return read_genotypes(path, {"V": own.v, "D": own.d, "J": own.j}, own.notes)


def places(*names: str) -> tuple[int, ...]:
    return tuple(i for i, part in enumerate(germline().d) if part.name in names)


def test_a_table_says_what_donors_lack(tmp_path: Path) -> None:
    found = genotypes(tmp_path)
    assert found.samples == ("a", "b", "c")
    lacks_d = [each.d for each in found.lacking]
    assert lacks_d == [places("TRBD2*01"), places("TRBD1*01", "TRBD2*02"), ()]
    assert all(not each.v and not each.j for each in found.lacking)
    several = genotypes(tmp_path, "a\tTRBD2\t1\t\na\tTRBD2\t2\t\na\tIGHV1-2\t09\t\n")
    assert several.lacking == (Lacking(),)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a\tTRBD2\t03\t\n", "line 2: TRBD2\\*03 is not in the germline, which has TRBD2\\*01"),
        ("a\tTRBD9\t01\t\n", "line 2: TRBD9 is not in the germline"),
        ("a\tTRBD2\tTRBD1*01\t\n", "'TRBD1\\*01' is no allele of TRBD2"),
        ("a\tmy gene\t01\t\n", "'my gene' is no name of a gene"),
        ("\tTRBD2\t01\t\n", "line 2: no sample"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, rows: str, said: str) -> None:
    with pytest.raises(BadParams, match=said) as error:
        genotypes(tmp_path, rows)
    assert "\n" not in str(error.value)


def test_a_table_without_a_column_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, "x\t1\n", "gene\talleles\n")
    with pytest.raises(BadParams, match="names no column sample_id or sample or"):
        read_genotypes(path, {"D": germline().d})


def test_calls_mean_alleles_of_the_donor() -> None:
    names = ("TRBV1*01", "TRBV1*02", "TRBV2*01", "TRBV3*01")
    parts = [Part(name, "ACGTACGTA"[: 5 + i]) for i, name in enumerate(names)]
    donor = Resolver(parts, lacks=(0, 3))
    assert donor.find("TRBV1") == donor.find("TRBV1*02") == donor.find("TRBV1*01,TRBV1*02") == 1
    assert donor.find("TRBV1*01") == donor.find("TRBV3") == donor.find("TRBV3*01") == UNKNOWN
    assert donor.detail("TRBV1*01").endswith("the genotype of the donor, who has TRBV1*02")
    assert donor.detail("TRBV3") == "TRBV3 is not in the genotype of the donor"
    assert donor.find("TRBV1*02,TRBV2*01") == AMBIGUOUS
    assert donor.find("TRBV3*01,TRBV2*01") == 2
    assert Resolver(parts, lacks=(0,), on_unknown_allele="gene").find("TRBV1*01") == 1


def restricted(lacking: Lacking, **changes: object) -> Setup:
    """Count with a germline that lacks the same D genes."""
    own = germline()
    kept = tuple(part for i, part in enumerate(own.d) if i not in lacking.d)
    return replace(setup(**changes), germline=replace(own, d=kept))


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("by_d", [True, False])
def test_counts_are_those_of_a_germline_of_the_donor(tmp_path: Path, by_d: bool) -> None:
    found = genotypes(tmp_path)
    paths = {name: written(tmp_path, name, records(N, seed)) for seed, name in enumerate("abc")}
    every = Repertoires(tuple(paths.values()), ())
    every.count(tmp_path / "all.zarr", setup(genotypes=found, by_d=by_d))
    stored = xr.open_zarr(tmp_path / "all.zarr", chunks=None).load()
    assert verify(tmp_path / "all.zarr").ok
    for sample, lacking in zip(found.samples, found.lacking, strict=True):
        own = restricted(lacking, by_d=by_d)
        Repertoires((paths[sample],), ()).count(tmp_path / f"{sample}.zarr", own)
        expected = xr.open_zarr(tmp_path / f"{sample}.zarr", chunks=None).load()
        rows = stored.isel(reference=stored.sample_index.values == "abc".index(sample))
        kept = [i for i in range(len(germline().d)) if i not in lacking.d]
        lacked = rows.isel(d_gene=list(lacking.d))
        for name in set(expected.data_vars) - {"sample_index", "sample_rows", "d_index"}:
            if "reference" in expected[name].dims:
                mine = rows[name]
                mine = mine.isel(d_gene=kept) if "d_gene" in mine.dims else mine
                np.testing.assert_array_equal(mine.values, expected[name].values, name)
        assert rows.d_call.values.tolist() == expected.d_call.values.tolist()
        if by_d:
            assert not lacked.paths_full.any()
            assert not lacked.d_length.any()
            assert (lacked.d_last == lacked.length).all()


@pytest.mark.full
def test_pairs_need_both_genes(tmp_path: Path) -> None:
    path = table(tmp_path, "a\tTRBD2\t01\t\n")
    v, j = "ACCTGCAGTGCAGA", "CAAACACAGAAGTCTTC"
    d = {part.name: part.sequence for part in germline().d}
    cdr3 = ["ACCTGCAGTGCAGACCTGGGGAACACAGAAGTCTTC"]
    both = count_paths(cdr3, v, j, d, d_segments=2)
    mine = count_paths(cdr3, v, j, d, d_segments=2, genotypes=path, sample="a")
    assert mine.d_pair.values.tolist() == both.d_pair.values.tolist()
    has = ["TRBD2*02" not in pair for pair in both.d_pair.values]
    assert (mine.paths_full.values > 0).any(axis=(0, 2, 3)).tolist() == has
    np.testing.assert_array_equal(mine.paths_full[:, has], both.paths_full[:, has])


def test_references_have_samples(tmp_path: Path) -> None:
    path = table(tmp_path, ROWS)
    v, j = "ACCTGCAGTGCAGA", "CAAACACAGAAGTCTTC"
    d = {part.name: part.sequence for part in germline().d}
    cdr3 = ["ACCTGCAGTGCAGACCTGGGGAACACAGAAGTCTTC"] * 2
    found = count_paths(cdr3, v, j, d, model="both", genotypes=path, sample=["a", "b"])
    there = (found.paths_full.values > 0).any(axis=(2, 3))
    assert there.tolist() == [[True, False, True], [False, True, False]]
    assert (found.dp1_paths.values > 0).any(axis=2).tolist() == there.tolist()
    for wrong in ({"sample": "a"}, {"genotypes": path}):
        with pytest.raises(BadParams, match="go together"):
            count_paths(cdr3, v, j, d, **wrong)  # type: ignore[arg-type]
    with pytest.raises(BadParams, match="sample 'x' has no genotype in genotypes"):
        count_paths(cdr3, v, j, d, genotypes=path, sample="x")
    with pytest.raises(BadParams, match="one for each of the 2"):
        count_paths(cdr3, v, j, d, genotypes=path, sample=["a"])


def test_what_info_and_the_command_say(gangsaw: CommandLine, tmp_path: Path) -> None:
    several = written(tmp_path, "a", [*records(N), Record(v="TRBV6-2*01", id="call")])
    rows = "a\tTRBD2\t02\t\nlate\tTRBD2\t01\t\na\tTRBV6-2\tDel\t\n"
    given = ("--genotypes", table(tmp_path, rows), "--keep-out-of-frame")
    target = tmp_path / "o.zarr"
    ran = gangsaw.ok("tcr", "count", several, target, "--species", "human", *given, *HERE, "--json")
    assert ran.figures["notes"] == ["genotypes.tsv: no file has sample late"]
    assert ran.figures["dropped"]["unknown V"] >= 1
    dropped = (tmp_path / "o.dropped.tsv").read_text()
    assert "TRBV6-2*01 is not in the genotype of the donor" in dropped
    told = gangsaw.ok("info", target).out
    assert "genotypes" in told
    assert "without TRBV6-2*01, TRBD2*01" in " ".join(told.split())
    other = written(tmp_path, "z", records(N))
    wrong = gangsaw("tcr", "count", other, tmp_path / "p.zarr", "--species", "human", *given, *HERE)
    assert "sample 'z' has no genotype in genotypes.tsv, which names a, late" in wrong.failed(2)
    assert not (tmp_path / "p.zarr").exists()


def test_one_that_is_dropped_anyway_needs_no_genotype(tmp_path: Path) -> None:
    path = tmp_path / "other.tsv"
    columns = "sequence_id\tv_call\tj_call\tjunction\tduplicate_count\trepertoire_id"
    good = "x\tTRBV6-2*01\tTRBJ1-1*01\tTGTGCCAGCAGTGACAGGGAACACCTTT\t1\ta"
    path.write_text("\n".join([columns, good, "cut", ""]))
    found = genotypes(tmp_path)
    own = setup(genotypes=found, columns=(("sample", "repertoire_id"),))
    summary = Repertoires((path,), ()).count(tmp_path / "o.zarr", own)
    assert (summary.kept, dict(summary.dropped)) == (1, {"ragged line": 1})
