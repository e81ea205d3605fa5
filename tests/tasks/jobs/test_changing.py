"""A source that changes while a job reads it: the job fails, names it, and leaves nothing whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.envi_files import cube, write_envi
from helpers.tcr_runs import three_files
from helpers.tcr_stores import repertoires, write_counts

import gangsaw
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.api.functions import encode
from gangsaw.tasks.formats.contract.format import SourceOptions
from gangsaw.tasks.formats.contract.opening import open_watched
from gangsaw.tasks.genomics.align.job.job import align_job
from gangsaw.tasks.genomics.reads.index.build import add_index
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.store.counts_store import open_counts
from gangsaw.tasks.tcr.store.tables.export import export as export_counts

Change = Callable[[], None]
CHANGED = r"{}\S* changed while it was read.*--overwrite"


def touched(path: Path) -> None:
    """Let a file look as if it was written again."""
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 10**9))


def replaced(path: Path) -> None:
    """Put another file of the same size and time there: only its number tells."""
    other = path.with_name(f"other-{path.name}")
    shutil.copy2(path, other)
    other.replace(path)


def once(change: Change) -> Callable[[object], None]:
    """Return a callback of progress that makes a change at its first call."""
    left = [change]
    return lambda _: left.pop()() if left else None


def raw(folder: Path) -> tuple[Path, Path]:
    write_envi(folder / "s.hdr", cube())
    (folder / "s.hdr").unlink()
    data = folder / "s.img"
    return data, data


def envi(folder: Path) -> tuple[Path, Path]:
    write_envi(folder / "s.hdr", cube())
    return folder / "s.hdr", folder / "s.hdr"


def envi_data(folder: Path) -> tuple[Path, Path]:
    write_envi(folder / "s.hdr", cube())
    return folder / "s.hdr", folder / "s.img"


def netcdf(folder: Path) -> tuple[Path, Path]:
    path = folder / "s.nc"
    xr.Dataset({"data": (("band", "y", "x"), cube())}).to_netcdf(path, engine="h5netcdf")
    return path, path


def plain_store(folder: Path) -> tuple[Path, Path]:
    zarr.create_array(folder / "s.zarr", data=cube(), chunks=(5, 7, 3))
    return folder / "s.zarr", folder / "s.zarr/c/0/0/1"


def finished_store(folder: Path) -> tuple[Path, Path]:
    gangsaw.compress(netcdf(folder)[0], folder / "f.zarr", codec="zstd")
    return folder / "f.zarr", folder / "f.zarr/data/c/0/0/0"


def fastq(folder: Path) -> tuple[Path, Path]:
    path = folder / "s.fastq"
    letters = np.random.default_rng(1).choice(list("ACGT"), (400, 50))
    lines = (f"@r{i}\n{''.join(row)}\n+\n{'I' * 50}\n" for i, row in enumerate(letters))
    path.write_text("".join(lines))
    return path, path


def fasta(folder: Path) -> tuple[Path, Path]:
    path = folder / "s.fa"
    path.write_text(">g\n" + "".join(np.random.default_rng(1).choice(list("ACGT"), 20_000)) + "\n")
    return path, path


SOURCES = [raw, envi, envi_data, netcdf, plain_store, finished_store, fastq, fasta]
OPTIONS: dict[object, dict[str, object]] = {raw: {"shape": (5, 7, 6), "dtype": "uint16"}}


@pytest.mark.parametrize("change", [touched, replaced])
@pytest.mark.parametrize("make", SOURCES)
def test_no_store_is_made_of_it(
    tmp_path: Path, make: Callable[[Path], tuple[Path, Path]], change: Callable[[Path], None]
) -> None:
    source, changing = make(tmp_path)
    target, options = tmp_path / "out.zarr", OPTIONS.get(make, {})
    named = changing if source.is_file() else source
    with pytest.raises(JobFailed, match=CHANGED.format(named)):
        gangsaw.compress(
            source,
            target,
            codec="zstd",
            on_progress=once(lambda: change(changing)),
            **options,  # type: ignore[arg-type]
        )
    with pytest.raises((BadParams, JobFailed), match=r"not finished|no Zarr"):
        gangsaw.verify(target)
    assert not list(target.rglob("journal/*"))
    gangsaw.compress(source, target, codec="zstd", overwrite=True, **options)  # type: ignore[arg-type]
    assert gangsaw.verify(target, against=source, **options).ok


def test_the_store_before_it_stays(tmp_path: Path) -> None:
    source, target = netcdf(tmp_path)[0], tmp_path / "out.zarr"
    gangsaw.compress(source, target, codec="zstd")
    again = once(lambda: touched(source))
    with pytest.raises(JobFailed, match="changed while it was read"):
        gangsaw.compress(source, target, codec="zstd", overwrite=True, on_progress=again)
    assert gangsaw.verify(target, against=source).ok


def test_what_else_fails_then_is_its_consequence(tmp_path: Path) -> None:
    """A file that was cut off while it was read: it is no truncated file, it changed."""
    source, _ = raw(tmp_path)
    cut = once(lambda: os.truncate(source, 10))
    options = {"shape": (5, 7, 6), "dtype": "uint16", "chunks": (1, 7, 6)}
    with pytest.raises(JobFailed, match=CHANGED.format(source)):
        gangsaw.compress(source, tmp_path / "a.zarr", codec="zstd", on_progress=cut, **options)  # type: ignore[arg-type]


def test_what_was_repaired_of_it_does_not_count(tmp_path: Path) -> None:
    source, target = netcdf(tmp_path)[0], tmp_path / "out.zarr"
    how = {"codec": "zstd", "chunks": (1, 7, 6)}
    gangsaw.compress(source, target, **how)  # type: ignore[arg-type]
    (target / "data/c/3/0/0").unlink()
    again = once(lambda: replaced(source))
    with pytest.raises(JobFailed, match="changed while it was read"):
        gangsaw.compress(source, target, resume=True, on_progress=again, **how)  # type: ignore[arg-type]
    report = gangsaw.verify(target)
    assert any("c/3/0/0" in line for line in report.problems)
    assert gangsaw.compress(source, target, resume=True, **how).chunks == 5  # type: ignore[arg-type]
    assert gangsaw.verify(target, against=source).ok


def test_reads_that_are_put_in_order(tmp_path: Path) -> None:
    source, target = fastq(tmp_path)[0], tmp_path / "out.zarr"
    with pytest.raises(JobFailed, match=CHANGED.format(source)):
        gangsaw.compress(source, target, order="sorted", on_progress=once(lambda: touched(source)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.fastq"]


@pytest.mark.parametrize("what", ["queries", "genome", "reads"])
def test_no_hits_are_written(tmp_path: Path, what: str) -> None:
    genome, queries = tmp_path / "g.zarr", fastq(tmp_path)[0]
    gangsaw.compress(fasta(tmp_path)[0], genome)
    reads, out = tmp_path / "reads.zarr", tmp_path / "out.paf"
    gangsaw.compress(queries, reads)
    chunk = {"genome": genome, "reads": reads}
    path = queries if what == "queries" else chunk[what] / "sequence/c/0"
    change = once(lambda: touched(path))
    with pytest.raises(JobFailed, match=r"changed while it was read.*--overwrite"):
        align_job([str(queries), str(reads)], str(genome), str(out), on_progress=change)
    assert not out.exists()
    assert not Path(f"{out}.part").exists()


@pytest.mark.parametrize("suffix", [".nc", ".hdr", ".out.zarr"])
def test_no_file_is_exported(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store, chunk = finished_store(tmp_path)
    target = tmp_path / f"t{suffix}"
    reading = gangsaw.tasks.store.source.ZarrArray.read
    change = once(lambda: touched(chunk))

    def read(array: object, region: object) -> object:
        change(None)
        return reading(array, region)  # type: ignore[arg-type]

    monkeypatch.setattr(gangsaw.tasks.store.source.ZarrArray, "read", read)
    with pytest.raises(JobFailed, match="changed while it was read"):
        gangsaw.decompress(store, target)
    if suffix == ".out.zarr":
        with pytest.raises((BadParams, JobFailed)):
            gangsaw.verify(target)
    else:
        assert sorted(path.name for path in tmp_path.iterdir()) == ["f.zarr", "s.nc"]


def test_nothing_is_verified_against_it(tmp_path: Path) -> None:
    store, _ = finished_store(tmp_path)
    source = tmp_path / "s.nc"
    with pytest.raises(JobFailed, match="changed while it was read"):
        gangsaw.verify(store, against=source, on_progress=once(lambda: touched(source)))


def test_no_index_is_made_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "reads.zarr"
    gangsaw.compress(fastq(tmp_path)[0], store)
    lines, change = Stored.lines, once(lambda: touched(store / "name/c/0"))

    def read(stored: Stored, of: str, first: int, last: int) -> object:
        change(None)
        return lines(stored, of, first, last)

    monkeypatch.setattr(Stored, "lines", read)
    with pytest.raises(JobFailed, match="changed while it was read"):
        add_index(store)
    assert not (store / "name_key").exists()
    assert gangsaw.verify(store).ok


@pytest.mark.full
def test_no_counts_are_made_of_it(tmp_path: Path) -> None:
    files, target = three_files(tmp_path), tmp_path / "out.zarr"
    change = once(lambda: touched(files.paths[0]))
    with pytest.raises(JobFailed, match=CHANGED.format(files.paths[0])):
        files.count(target, on_read=change)
    with pytest.raises(BadParams):
        open_counts(str(target))
    assert not list(tmp_path.glob("*.dropped.tsv"))
    assert files.count(target, overwrite=True).rows


def test_no_table_is_made_of_counts(tmp_path: Path) -> None:
    samples = ("ann", "ben", "cem")
    made = write_counts(tmp_path / "a.zarr", repertoires(1, 60, samples, pool=40), samples)
    chunk = next(path for path in (made.path / "cdr3").rglob("c/*") if path.is_file())
    change = once(lambda: touched(chunk))
    with pytest.raises(JobFailed, match="changed while it was read"):
        share([str(made.path)], tmp_path / "a.parquet", on_progress=change)
    change = once(lambda: touched(chunk))
    with pytest.raises(JobFailed, match="changed while it was read"):
        export_counts(made.path, tmp_path / "b.csv", on_progress=change)
    assert not list(tmp_path.glob("*.parquet"))
    assert not list(tmp_path.glob("*.csv"))


@pytest.mark.parametrize("make", [raw, envi, envi_data, netcdf, plain_store, finished_store])
def test_what_changes_before_the_workers_are_there(
    tmp_path: Path, make: Callable[[Path], tuple[Path, Path]]
) -> None:
    """Headers are read when a source is opened, the rest when a cluster has started."""
    source, changing = make(tmp_path)
    named, options = changing if source.is_file() else source, OPTIONS.get(make, {})
    opened, watch = open_watched([str(source)], SourceOptions(own=options))
    touched(changing)
    recipe = Recipe("zstd", {}, None, {}, None)
    with pytest.raises(JobFailed, match=CHANGED.format(named)):
        encode(opened, tmp_path / "out.zarr", recipe, watch=watch)
    assert not list(tmp_path.rglob("journal/*"))


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("part", ["new", "attribute", "inner"])
def test_a_group_that_gets_more_meanwhile(tmp_path: Path, part: str, zarr_format: int) -> None:
    group = zarr.create_group(tmp_path / "g.zarr", zarr_format=zarr_format)  # type: ignore[arg-type]
    group.create_array("a", data=cube())
    inner = group.create_group("inner")
    inner.create_array("b", data=cube())
    changes: dict[str, Callable[[], object]] = {
        "new": lambda: group.create_array("c", data=cube()),
        "attribute": lambda: group.attrs.update(title="x"),
        "inner": lambda: inner.attrs.update(title="x"),
    }
    change = once(lambda: changes[part]())
    with pytest.raises(JobFailed, match=CHANGED.format(tmp_path / "g.zarr")):
        gangsaw.compress(tmp_path / "g.zarr", tmp_path / "out.zarr", on_progress=change)


def test_what_is_added_beside_the_arrays_that_are_read_is_no_change(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "g.zarr")
    group.create_array("a", data=cube())
    group.create_array("b", data=cube())
    add = once(lambda: group.create_array("c", data=cube()))
    source, target = tmp_path / "g.zarr", tmp_path / "out.zarr"
    gangsaw.compress(source, target, variables=["a"], on_progress=add)
    assert gangsaw.verify(target, against=source, variables=["a"]).ok
