"""Nucleotypes across individuals: equal to a plain group-by, however rows are cut and spread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import clusters, tcr_stores
from helpers.command_line import CommandLine
from helpers.tcr_runs import three_files
from helpers.tcr_stores import J_GENES, V_GENES, Made, repertoires, write_counts

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.tcr.sharing import share as module
from gangsaw.tasks.tcr.sharing.hashing import hashes
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics.associate import associate

SAMPLES = ("ann", "ben", "cem", "dee")


@pytest.fixture
def stores(tmp_path: Path) -> list[Made]:
    """Two stores; sample "cem" is in both."""
    first, second = SAMPLES[:3], SAMPLES[2:]
    return [
        write_counts(tmp_path / "one.zarr", repertoires(1, 700, first), first, chunk=256),
        write_counts(tmp_path / "two.zarr", repertoires(1, 300, second), second, chunk=100),
    ]


def expected(stores: list[Made], owner: dict[str, str]) -> pd.DataFrame:
    """Group all rows by pandas."""
    parts = []
    for number, made in enumerate(stores):
        rows = made.rows.assign(first_store=number, first_reference=np.arange(len(made.rows)))
        rows["sample"] = made.data["sample"].values[rows["sample"]]
        parts.append(rows)
    rows = pd.concat(parts, ignore_index=True)
    rows["individual"] = rows["sample"].map(owner)
    rows["v"], rows["j"] = np.array(V_GENES)[rows["v"]], np.array(J_GENES)[rows["j"]]
    rows["frequency"] = rows["copies"] / rows.groupby("individual")["copies"].transform("sum")
    keys = ["cdr3", "v", "j"]
    grouped = rows.groupby(keys, sort=False)
    found = grouped.agg(
        individuals=("individual", "nunique"),
        samples=("sample", "nunique"),
        copies=("copies", "sum"),
        frequency_sum=("frequency", "sum"),
        first_store=("first_store", "first"),
        first_reference=("first_reference", "first"),
    ).reset_index()
    found["frequency"] = found["frequency_sum"] / found["individuals"]
    found["shared"] = found["individuals"] >= 2
    people = {name: i for i, name in enumerate(dict.fromkeys(owner[each] for each in SAMPLES))}
    numbers = grouped["individual"].agg(lambda each: sorted({people[name] for name in each}))
    return found.assign(owners=numbers.to_numpy())


def table_of(path: Path) -> pd.DataFrame:
    return pq.read_table(path).to_pandas()


def assert_same(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    assert [each.tolist() for each in found.pop("owners")] == wanted["owners"].tolist()
    pd.testing.assert_frame_equal(
        found, wanted[found.columns], check_dtype=False, rtol=1e-12, atol=0
    )


@pytest.fixture(params=["one part", "many parts"])
def cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Rows in one part, or in many."""
    if request.param == "many parts":
        monkeypatch.setattr(module, "RUN_ROWS", 77)
        monkeypatch.setattr(module, "PART_ROWS", 90)
    return str(request.param)


@pytest.mark.usefixtures("cut")
def test_equals_a_plain_group_by(stores: list[Made], tmp_path: Path) -> None:
    found = share([str(made.path) for made in stores], tmp_path / "a.parquet")
    wanted = expected(stores, {name: name for name in SAMPLES})
    assert_same(table_of(tmp_path / "a.parquet"), wanted)
    assert found.sharing == wanted["individuals"].value_counts().to_dict()
    assert (found.rows, found.samples, found.individuals) == (1000, 4, 4)
    assert (found.nucleotypes, found.shared) == (len(wanted), wanted["shared"].sum())
    assert 0 < found.shared < found.nucleotypes
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("cut")
def test_a_table_joins_samples(stores: list[Made], tmp_path: Path) -> None:
    owner = {"ann": "A", "ben": "B", "cem": "A", "dee": "A"}
    lines = [f"{sample},{name}" for sample, name in owner.items()]
    (tmp_path / "donors.csv").write_text("\n".join(["sample,individual", *lines, "", "eve,E"]))
    addresses = [str(made.path) for made in stores]
    found = share(addresses, tmp_path / "a.parquet", table=tmp_path / "donors.csv")
    assert_same(table_of(tmp_path / "a.parquet"), expected(stores, owner))
    assert (found.samples, found.individuals) == (4, 2)


@pytest.mark.parametrize(
    "header",
    [
        ("#file_name", "sample_id", "age", "donor"),  # VDJtools
        ("repertoire_id", "sample_id", "sex", "subject_id"),  # AIRR, samples named by the second
        ("sample_id", "repertoire_id", "sex", "subject_id"),  # and by the first
    ],
)
def test_tables_of_metadata_are_read(
    stores: list[Made], tmp_path: Path, header: tuple[str, ...]
) -> None:
    owner = {"ann": "A", "ben": "B", "cem": "A", "dee": "A"}
    lines = [f"{sample}_x.tsv\t{sample}\t30\t{name}" for sample, name in owner.items()]
    if header[0] == "sample_id":
        lines = [f"{sample}\tx\t30\t{name}" for sample, name in owner.items()]
    (tmp_path / "metadata.txt").write_text("\n".join(["\t".join(header), *lines]))
    addresses = [str(made.path) for made in stores]
    share(addresses, tmp_path / "a.parquet", table=tmp_path / "metadata.txt")
    assert_same(table_of(tmp_path / "a.parquet"), expected(stores, owner))


def test_the_file_is_the_same_however_rows_are_cut(
    stores: list[Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = []
    for n in (50, 333, 1 << 18):
        monkeypatch.setattr(module, "RUN_ROWS", n)
        monkeypatch.setattr(module, "PART_ROWS", n + 1)
        share([str(made.path) for made in stores], tmp_path / f"{n}.parquet")
        tables.append(pq.read_table(tmp_path / f"{n}.parquet"))
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def test_on_workers(stores: list[Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [str(made.path) for made in stores]
    monkeypatch.setattr(module, "RUN_ROWS", 100)
    share(addresses, tmp_path / "here.parquet")
    states: list[Any] = []
    with clusters.in_process() as to:
        share(addresses, tmp_path / "there.parquet", client=to, on_progress=states.append)
    assert pq.read_table(tmp_path / "there.parquet").equals(
        pq.read_table(tmp_path / "here.parquet")
    )
    assert states[-1].done == states[-1].total == 10 + 2


def test_the_hash_is_fnv_1a() -> None:
    def slow(text: str, *numbers: int) -> int:
        value = 0xCBF29CE484222325
        for symbol in [*text.encode(), *numbers]:
            value = (value ^ symbol) * 0x100000001B3 % 2**64
        return value

    texts = ["", "a", "foobar", "GATTACA"]
    numbers = np.array([0, 7, 300, 70000], np.int32)
    found = hashes(pa.array(texts), numbers, numbers[::-1].copy())
    pairs = zip(texts, numbers.tolist(), numbers[::-1].tolist(), strict=True)
    assert found.tolist() == [slow(*each) for each in pairs]
    assert hashes(pa.array(["foobar"])).tolist() == [0x85944171F73967E8]  # of the FNV authors
    assert hashes(pa.array(texts)[2:]).tolist() == [slow(text) for text in texts[2:]]


def test_nothing_shared_is_said(tmp_path: Path) -> None:
    rows = repertoires(1, 50, ("ann",))
    write_counts(tmp_path / "one.zarr", rows, ("ann",))
    found = share([str(tmp_path / "one.zarr")], tmp_path / "a.parquet")
    assert found.notes == ("only one individual: nothing can be shared",)
    other = rows.drop_duplicates("cdr3").head(20).assign(sample=lambda t: np.arange(len(t)) % 2)
    write_counts(tmp_path / "two.zarr", other, ("ann", "ben"))
    found = share([str(tmp_path / "two.zarr")], tmp_path / "b.parquet")
    assert found.notes == ("no nucleotype is shared",)
    assert found.sharing == {1: 20}


def refused(match: str, *args: Any, **kwargs: Any) -> None:
    with pytest.raises(GangsawError, match=match):
        share(*args, **kwargs)


def test_what_is_no_store_of_counts_is_refused(stores: list[Made], tmp_path: Path) -> None:
    import xarray as xr

    out = tmp_path / "a.parquet"
    refused("nowhere.zarr: no Zarr group there", [str(tmp_path / "nowhere.zarr")], out)
    xr.Dataset({"copies": ("x", [1])}).to_zarr(tmp_path / "b.zarr", consolidated=False)
    refused(
        "b.zarr was not written by gangsaw tcr count: no cdr3",
        [str(tmp_path / "b.zarr")],
        out,
    )
    (tmp_path / "file.zarr").write_text("no store")
    refused("file.zarr: no Zarr group there", [str(tmp_path / "file.zarr")], out)
    refused("name each store of counts once", [str(stores[0].path)] * 2, out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        (
            {"attrs": {"germline_locus": "TRA"}},
            "has germline_locus TRB, .* has TRA: count both with the same value",
        ),
        ({"attrs": {"strands": 2}}, "has strands 1, .* has 2"),
        ({"d_genes": ("TRBD1*01",)}, "have other d_genes"),
        ({"sample_index": (("reference",), np.full(20, 3, "i4"))}, "points outside the 2 names"),
        ({"copies": (("reference",), np.full(20, -3))}, "a negative number of copies"),
    ],
)
def test_stores_that_do_not_go_together_are_refused(
    stores: list[Made], tmp_path: Path, changes: dict[str, Any], match: str
) -> None:
    made = write_counts(tmp_path / "b.zarr", repertoires(2, 20, ("x", "y")), ("x", "y"), **changes)
    refused(match, [str(stores[0].path), str(made.path)], tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("sample\tindividual\nann\tA\nben\tB\n", "no individual for sample 'cem' and 1 more"),
        ("sample,owner\nann,A\n", "has no column 'individual', nor subject_id"),
        ("sample,individual\nann,A\nann,B\n", "line 3: sample 'ann' belongs to two individuals"),
        ("sample,individual\nann\n", "line 2: no individual"),
        ("", "no table of samples and individuals.*is empty"),
    ],
)
def test_bad_tables_of_individuals_are_refused(
    stores: list[Made], tmp_path: Path, text: str, match: str
) -> None:
    (tmp_path / "t.tsv").write_text(text)
    addresses = [str(made.path) for made in stores]
    refused(match, addresses, tmp_path / "a.parquet", table=tmp_path / "t.tsv")
    refused("is no table", addresses, tmp_path / "a.parquet", table=tmp_path / "absent.tsv")


def test_stores_of_the_job_serve_whole_or_are_refused(tmp_path: Path) -> None:
    store, out = tmp_path / "a.zarr", tmp_path / "a.parquet"
    files = three_files(tmp_path)
    files.count(store)
    found = share([str(store)], out)
    assert (found.rows, found.samples) == (len(files.good), 3)
    associate([str(store)], out)
    (store / "paths_full" / "c" / "0" / "0" / "0" / "0").unlink()
    with pytest.raises(GangsawError, match="paths_full, chunk c/0/0/0/0: missing"):
        associate([str(store)], out)
    (store / "cdr3" / "c" / "0").unlink()
    refused("cdr3, chunk c/0: missing", [str(store)], tmp_path / "b.parquet")
    (store / "zarr.json").unlink()
    refused("is not finished: run .* --resume", [str(store)], tmp_path / "b.parquet")


def test_the_target_is_not_replaced(stores: list[Made], tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("mine")
    with pytest.raises(BadParams, match="exists"):
        share([str(stores[0].path)], tmp_path / "a.parquet")
    share([str(stores[0].path)], tmp_path / "a.parquet", overwrite=True)
    assert len(table_of(tmp_path / "a.parquet"))


def test_a_frequent_nucleotype_is_one_row_of_each_run(tmp_path: Path) -> None:
    """What a part holds does not grow with the copies of one nucleotype."""
    rows = repertoires(3, 1000, ("x", "y"), pool=1)
    write_counts(tmp_path / "b.zarr", rows, ("x", "y"))
    found = share([str(tmp_path / "b.zarr")], tmp_path / "a.parquet")
    assert (found.nucleotypes, found.sharing) == (1, {2: 1})
    assert table_of(tmp_path / "a.parquet")["copies"][0] == rows["copies"].sum()


@pytest.mark.parametrize("run_rows", [300, 3])
def test_sums_of_copies_beyond_64_bits_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_rows: int
) -> None:
    """In one run of rows, and over runs that each hold less."""
    monkeypatch.setattr(module, "RUN_ROWS", run_rows)
    rows = repertoires(3, 300, ("x", "y")).assign(copies=2**59)
    write_counts(tmp_path / "b.zarr", rows, ("x", "y"))
    refused(
        r"copies together: they must not exceed 2\^62",
        [str(tmp_path / "b.zarr")],
        tmp_path / "a.pq",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["b.zarr"]


def test_the_command(stores: list[Made], tmp_path: Path, gangsaw: CommandLine) -> None:
    addresses = [made.path for made in stores]
    ran = gangsaw.ok("tcr", "share", *addresses, tmp_path / "a.parquet")
    assert "nucleotypes" in ran.out
    again = ("tcr", "share", *addresses, tmp_path / "a.parquet", "--json")
    assert "exists" in gangsaw(*again).failed(2)
    figures = gangsaw.ok(*again, "--overwrite").figures
    assert figures["nucleotypes"] == len(table_of(tmp_path / "a.parquet"))
    assert sum(figures["sharing"].values()) == figures["nucleotypes"]


def test_rows_of_made_stores_agree_with_their_nucleotypes() -> None:
    """What the other tests rest on: equal nucleotypes have equal counts."""
    rows = repertoires(1, 100, ("a",), pool=5)
    data = tcr_stores._dataset(rows, ("a",), tcr_stores.D_GENES)
    paths = data["paths_full"].values
    for _, group in rows.groupby(["cdr3", "v", "j"]):
        assert (paths[group.index] == paths[group.index[0]]).all()


def test_a_table_of_rows_is_never_replaced(stores: list[Made], tmp_path: Path) -> None:
    address, mine = str(stores[0].path), tmp_path / "donor.tsv"
    mine.write_text("junction\n")
    refused("donor.tsv: .* name it .parquet", [address], mine, overwrite=True)
    assert mine.read_text() == "junction\n"
