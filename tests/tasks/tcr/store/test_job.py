"""The job that counts repertoires: what it drops, what it refuses, and how it goes on."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from helpers.job_data import objects
from helpers.tcr_runs import BAD, Repertoires, germline, records, setup, three_files, written
from helpers.tcr_tables import Record

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.repertoire.cleaning.clean import Limits
from gangsaw.tasks.tcr.repertoire.inputs import open_inputs
from gangsaw.tasks.tcr.store import job
from gangsaw.tasks.tcr.store.chunk import CountChunk
from gangsaw.tasks.tcr.store.job import check_inputs
from gangsaw.tasks.tcr.store.reading import ReadRepertoire


@pytest.fixture
def repertoires(tmp_path: Path) -> Repertoires:
    return three_files(tmp_path)


@pytest.fixture
def whole(repertoires: Repertoires, tmp_path: Path) -> dict[str, bytes]:
    """The objects of the store that an undisturbed run writes."""
    repertoires.count(tmp_path / "whole.zarr")
    return objects(tmp_path / "whole.zarr")


@contextmanager
def interrupted(owner: Any, name: str, at: int) -> Iterator[None]:
    """Interrupt the job at the n-th call of one of its functions."""
    inner, calls = getattr(owner, name), count(1)

    def stop(*args: Any, **options: Any) -> Any:
        if next(calls) == at:
            raise KeyboardInterrupt
        return inner(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, stop)
        with pytest.raises(KeyboardInterrupt):
            yield


# --- dropped rows ---


def test_each_dropped_row_is_in_the_table(repertoires: Repertoires, tmp_path: Path) -> None:
    summary = repertoires.count(tmp_path / "o.zarr")
    header, *lines = (tmp_path / "o.dropped.tsv").read_text().splitlines()
    assert header.split("\t") == ["file", "line", "id", "reason", "detail"]
    rows = [line.split("\t") for line in lines]
    first, second = map(str, repertoires.paths[:2])
    assert [(file, line, name, reason) for file, line, name, reason, _ in rows] == [
        *((first, str(22 + i), row.id, reason) for i, (reason, row) in enumerate(BAD)),
        *((second, str(2 + i), row.id, reason) for i, (reason, row) in enumerate(BAD[:2])),
    ]
    assert (summary.rows, summary.kept, sum(summary.dropped.values())) == (257, 250, 7)


def test_a_table_is_written_even_when_no_row_is_dropped(tmp_path: Path) -> None:
    path = written(tmp_path, "a", records(5))
    Repertoires((path,), ()).count(tmp_path / "o.zarr", table=tmp_path / "none.tsv")
    assert (tmp_path / "none.tsv").read_text() == "file\tline\tid\treason\tdetail\n"


def test_what_would_need_quotes_becomes_a_space(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    good = f"TGT{'A' * 30}TTT,TRBV18*01,TRBJ1-1*01,g\n"
    bad = '"TGTACA""\tXTTT",TRBV18*01,TRBJ1-1*01,"a\tb"\n'
    path.write_text(f"junction,v_call,j_call,sequence_id\n{good}{bad}")
    Repertoires((path,), ()).count(tmp_path / "o.zarr")
    _, line = (tmp_path / "o.dropped.tsv").read_text().splitlines()
    assert line.split("\t")[2:4] == ["a b", "not nucleotides"]


def test_limits_are_held(repertoires: Repertoires, tmp_path: Path) -> None:
    changed = setup(limits=Limits(longest=40))
    summary = repertoires.count(tmp_path / "o.zarr", changed)
    found = xr.open_zarr(tmp_path / "o.zarr", chunks=None)
    assert {"too long", "out of frame", "stop codon"} <= set(summary.dropped)
    assert int(found.length.max()) <= 40
    assert not (found.length % 3).any()
    assert found.attrs["limit_longest"] == 40


@pytest.mark.full
def test_what_exceeds_64_bits_is_dropped(tmp_path: Path) -> None:
    v, j = germline().v[0], germline().j[0]
    wild = f"TGT{'N' * 36}TTT"
    rows = [Record(wild, v.name, "", j.name, id="wild"), *records(3)]
    path = written(tmp_path, "a", rows)
    changed = setup(model=Model("dp2", strands=2))
    summary = Repertoires((path,), ()).count(tmp_path / "o.zarr", changed)
    assert (summary.kept, summary.dropped) == (3, {"counts beyond 64 bits": 1})
    _, line = (tmp_path / "o.dropped.tsv").read_text().splitlines()
    assert line.split("\t")[2] == "wild"
    assert "too many wildcards" in line
    fewer = setup(model=Model("dp1"))  # needs no look
    assert Repertoires((path,), ()).count(tmp_path / "p.zarr", fewer).kept == 4


def test_nothing_kept_is_an_error_that_says_why(tmp_path: Path) -> None:
    path = written(tmp_path, "a", [row for _, row in BAD])
    first = rf"{re.escape(str(path))}, line 2: {BAD[0][0]}, "
    for _ in range(2):  # nothing that the first run left stands in the way of the second
        with pytest.raises(
            BadParams, match=rf"no row was accepted: .*1 no CDR3, .*first is {first}"
        ):
            Repertoires((path,), ()).count(tmp_path / "o.zarr")
        assert {p.name for p in tmp_path.iterdir()} == {"a.tsv.gz"}


def test_nothing_kept_names_the_file_that_could_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "noise.tsv").write_bytes(bytes(100))
    with pytest.raises(BadParams, match=r"no row was accepted: .*noise\.tsv is binary"):
        Repertoires((tmp_path / "noise.tsv",), ()).count(tmp_path / "o.zarr", keep_going=True)


def test_what_is_read_is_never_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path, "a", records(5))
    before = path.read_bytes()
    for target, table in ((tmp_path / "o.zarr", path), (path, tmp_path / "t.tsv")):
        with pytest.raises(BadParams, match="is to be read: write to another path"):
            Repertoires((path,), ()).count(target, table=table, overwrite=True)
        assert path.read_bytes() == before


def test_an_empty_repertoire_among_others(tmp_path: Path) -> None:
    paths = (written(tmp_path, "a", []), written(tmp_path, "b", records(3)))
    summary = Repertoires(paths, ()).count(tmp_path / "o.zarr")
    assert (summary.files, summary.rows, summary.kept) == (2, 3, 3)


# --- samples ---


def test_samples_of_a_column_are_numbered_over_all_files(tmp_path: Path) -> None:
    text = "subject\tjunction\tv_call\tj_call\n"
    rows = {"a": ("s2", "s1", "s2"), "b": ("s3", "s1")}
    for name, subjects in rows.items():
        lines = [f"{s}\tTGT{'A' * 30}TTT\tTRBV18*01\tTRBJ1-1*01\n" for s in subjects]
        (tmp_path / f"{name}.tsv").write_text(text + "".join(lines))
    paths = (tmp_path / "a.tsv", tmp_path / "b.tsv")
    changed = setup(columns=(("sample", "subject"),))
    Repertoires(paths, ()).count(tmp_path / "o.zarr", changed)
    found = xr.open_zarr(tmp_path / "o.zarr", chunks=None)
    assert found.sample.values.tolist() == ["s2", "s1", "s3"]
    assert found.sample_index.values.tolist() == [0, 1, 0, 2, 1]


def test_files_called_alike_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    names = ["x/p/clones.tsv", "y/p/clones.tsv", "y/q/clones.tsv", "y/q/clones.tsv.gz", "z.tsv"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    samples = [file.sample for file in open_inputs([tmp_path / name for name in names])]
    assert samples[:2] == ["x/p/clones", "y/p/clones"]
    assert samples[4] == "z"
    assert len(set(samples)) == 5


# --- files that cannot be read ---


def test_a_file_twice_or_absent(tmp_path: Path) -> None:
    path = written(tmp_path, "a", records(3))
    with pytest.raises(BadParams, match=r"a\.tsv\.gz is given twice"):
        open_inputs([path, tmp_path / "." / "a.tsv.gz"])
    with pytest.raises(BadParams, match=r"b\.tsv: no such file"):
        open_inputs([path, tmp_path / "b.tsv"])
    with pytest.raises(BadParams, match=r"b\.tsv: no such file; .*: it is a folder"):
        open_inputs([path, tmp_path / "b.tsv", tmp_path])


def cut(repertoires: Repertoires) -> Path:
    """Cut the second file short."""
    path = repertoires.paths[1]
    path.write_bytes(path.read_bytes()[:-200])
    return path


def test_a_damaged_file_stops_the_job_and_leaves_nothing(
    repertoires: Repertoires, tmp_path: Path
) -> None:
    path = cut(repertoires)
    before = objects(tmp_path)
    check_inputs(open_inputs(repertoires.paths), setup())  # it begins well
    with pytest.raises(BadParams, match=rf"{path}.*data end too early.*--keep-going"):
        repertoires.count(tmp_path / "o.zarr")
    assert objects(tmp_path) == before
    assert not (tmp_path / "o.zarr").exists()


def test_keep_going_counts_the_others_and_names_it(
    repertoires: Repertoires, tmp_path: Path
) -> None:
    path = cut(repertoires)
    no_table = tmp_path / "notes.tsv"
    no_table.write_text("some words\nof no table\n")
    several = Repertoires((*repertoires.paths, no_table), ())
    with pytest.raises(BadParams, match=r"notes\.tsv"):
        check_inputs(open_inputs(several.paths), setup())
    summary = several.count(tmp_path / "o.zarr", keep_going=True)
    assert len(summary.problems) == 2
    assert str(path) in summary.problems[0]
    assert str(no_table) in summary.problems[1]
    found = xr.open_zarr(tmp_path / "o.zarr", chunks=None)
    kept = found.attrs["input_kept"]
    assert (kept[0], kept[2], kept[3]) == (150, 30, 0)
    assert kept[1] < 70  # what stands before the damage
    assert found.attrs["input_problems"] == list(summary.problems)


# --- the target ---


def test_an_existing_target_is_spared(repertoires: Repertoires, tmp_path: Path) -> None:
    repertoires.count(tmp_path / "o.zarr")
    (tmp_path / "o.dropped.tsv").unlink()
    before = objects(tmp_path)
    with pytest.raises(BadParams, match=r"o\.zarr exists: give another name, or --overwrite"):
        repertoires.count(tmp_path / "o.zarr")
    assert objects(tmp_path) == before
    (tmp_path / "o.dropped.tsv").write_text("a thesis")
    with pytest.raises(BadParams, match=r"o\.dropped\.tsv exists"):
        repertoires.count(tmp_path / "p.zarr", table=tmp_path / "o.dropped.tsv")
    assert not (tmp_path / "p.zarr").exists()


def test_overwrite_replaces_it_at_the_end(repertoires: Repertoires, tmp_path: Path) -> None:
    one = Repertoires(repertoires.paths[:1], ())
    one.count(tmp_path / "o.zarr")
    before = objects(tmp_path / "o.zarr")
    with interrupted(CountChunk, "__call__", 3):
        repertoires.count(tmp_path / "o.zarr", overwrite=True)
    assert objects(tmp_path / "o.zarr") == before
    repertoires.count(tmp_path / "o.zarr", overwrite=True)
    assert xr.open_zarr(tmp_path / "o.zarr", chunks=None).sizes["reference"] == 250


# --- stopped and resumed ---


@pytest.mark.parametrize("at", [1, 2, 3])
def test_interrupted_while_it_reads(
    repertoires: Repertoires,
    whole: dict[str, bytes],
    tmp_path: Path,
    at: int,
) -> None:
    target = tmp_path / "o.zarr"
    with interrupted(ReadRepertoire, "_read", at):
        repertoires.count(target)
    assert not (target / "zarr.json").exists()
    seen: list[Progress] = []
    repertoires.count(target, resume=True, on_read=seen.append)
    assert (seen[0].resumed, seen[-1].done) == (at - 1, 3)
    assert objects(target) == whole


@pytest.mark.full
@pytest.mark.parametrize("at", [1, 2, 4])
def test_interrupted_while_it_counts(
    repertoires: Repertoires,
    whole: dict[str, bytes],
    tmp_path: Path,
    at: int,
) -> None:
    target = tmp_path / "o.zarr"
    with interrupted(CountChunk, "_store", at):
        repertoires.count(target)
    with pytest.raises(BadParams, match="holds an unfinished job: finish it with --resume"):
        repertoires.count(target)
    with pytest.raises(FileNotFoundError):
        xr.open_zarr(target)
    seen: list[Progress] = []
    summary = repertoires.count(target, resume=True, on_count=seen.append)
    assert summary.run.references == 250 - 64 * (at - 1)
    assert (seen[0].resumed, seen[-1].done) == (64 * (at - 1), 250)
    assert objects(target) == whole


@pytest.mark.full
@pytest.mark.parametrize("killed_after", ["manifests", "root", "staging"])
def test_killed_at_the_end(
    repertoires: Repertoires,
    whole: dict[str, bytes],
    tmp_path: Path,
    killed_after: str,
) -> None:
    target = tmp_path / "o.zarr"
    what: tuple[Any, str] = {
        "manifests": (job, "_write_root"),
        "root": (job.Staging, "remove"),
        "staging": (job.Journal, "remove"),
    }[killed_after]
    with interrupted(*what, 1):
        repertoires.count(target)
    summary = repertoires.count(target, resume=True)
    assert summary.run.references == 0
    assert summary.kept == 250
    assert objects(target) == whole


def test_resume_of_what_is_finished(repertoires: Repertoires, tmp_path: Path) -> None:
    first = repertoires.count(tmp_path / "o.zarr")
    before = objects(tmp_path)
    again = repertoires.count(tmp_path / "o.zarr", resume=True)
    assert objects(tmp_path) == before
    assert again.run.references == 0
    assert (again.rows, again.dropped, again.stored_bytes) == (
        *(first.rows, first.dropped, first.stored_bytes),
    )


def test_resume_refuses_another_input_or_setup(repertoires: Repertoires, tmp_path: Path) -> None:
    with interrupted(CountChunk, "__call__", 1):
        repertoires.count(tmp_path / "o.zarr")
    fewer = Repertoires(repertoires.paths[:2], ())
    with pytest.raises(BadParams, match="the source is another one or has changed"):
        fewer.count(tmp_path / "o.zarr", resume=True)
    with pytest.raises(BadParams, match="parameters or attributes differ"):
        repertoires.count(tmp_path / "o.zarr", setup(limits=Limits()), resume=True)
    os.utime(repertoires.paths[0], ns=(0, 0))
    with pytest.raises(BadParams, match="the source is another one or has changed"):
        repertoires.count(tmp_path / "o.zarr", resume=True)


def test_a_full_disk(
    repertoires: Repertoires,
    whole: dict[str, bytes],
    tmp_path: Path,
    tmpfs: Callable[[str], Path],
) -> None:
    folder = tmpfs("size=192k")
    with pytest.raises(JobFailed, match=r"No space left on device.*--resume"):
        repertoires.count(folder / "o.zarr", table=tmp_path / "dropped.tsv")
    shutil.copytree(folder / "o.zarr", tmp_path / "o.zarr")
    repertoires.count(tmp_path / "o.zarr", table=tmp_path / "dropped.tsv", resume=True)
    assert objects(tmp_path / "o.zarr") == whole


# --- on workers ---


def test_workers_write_the_same_store(
    repertoires: Repertoires, whole: dict[str, bytes], tmp_path: Path
) -> None:
    with start(ClusterConfig(workers=2, threads=1, dashboard=False)) as client:
        seen: list[Progress] = []
        repertoires.count(tmp_path / "o.zarr", client=client, on_read=seen.append)
        assert objects(tmp_path / "o.zarr") == whole
        assert [state.done for state in seen] == [0, 1, 2, 3]
        path = cut(repertoires)
        with pytest.raises(BadParams, match=str(path)):
            repertoires.count(tmp_path / "p.zarr", client=client)


def test_all_files_that_are_no_repertoires_are_named(
    repertoires: Repertoires, tmp_path: Path
) -> None:
    wrong = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in wrong:
        path.write_text("no table")
    with pytest.raises(BadParams, match=r"a\.txt .*; .*b\.txt "):
        check_inputs(open_inputs([wrong[0], *repertoires.paths, wrong[1]]), setup())
