"""Export of visibility stores to their own format, and by pyuvdata to the other formats.

An export to the same format is identical to the source. One writer fills the template with its
columns chunk by chunk, since HDF5 and casacore allow only one writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, GangsawError, JobFailed
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.engine.report.failure import ChunkFailed, name_failed_chunk
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.formats.exporting.atomic import write_whole_files, write_whole_folder
from gangsaw.tasks.radio.export.mark import write_incomplete_note
from gangsaw.tasks.radio.measurement_sets.files import FILE, put_files
from gangsaw.tasks.radio.measurement_sets.managers import MANAGER, put_manager
from gangsaw.tasks.radio.radio import (
    TEMPLATE,
    Template,
    TemplatePart,
    describe_error,
    find_template,
    suggest_remedy,
)
from gangsaw.tasks.radio.rows import Put, Rows, Run
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.arrays.layout import default_chunks
from gangsaw.tasks.store.damage import Damage, mark_of

SUFFIXES = {"uvh5": ".uvh5", "hdf5": ".h5", "ms": ".ms", "uvfits": ".uvfits"}
OF_HDF5 = ("uvh5", "hdf5")
PutColumn: TypeAlias = "Callable[[TemplatePart, str], Put]"
CACHE = 128 << 20  # bytes: an HDF5 chunk is written in several pieces


def export_radio(
    source: Source,
    path: Path,
    kind: str,
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> None:
    """Write a store as "uvh5", "ms", "uvfits" or "hdf5" (the format of KAT's correlators).

    Raises BadParams if the store was not made from such a file, if the target exists, or if the
    format cannot represent the same bits.
    """
    check_template_kind(source, kind)
    template = find_template(source)
    assert template is not None
    if kind in (template.format, "hdf5"):
        kind = template.format
        with _target(path, kind, overwrite=overwrite) as part:
            _write_native(source, template, part, on_progress)
            _mark(source, part, kind)
        return
    with _target(path, kind, overwrite=overwrite) as part, TemporaryDirectory() as folder:
        from gangsaw.tasks.radio.uvdata.export import convert

        native = Path(folder) / f"native{SUFFIXES[template.format]}"
        _write_native(source, template, native, on_progress)
        convert(native, part, template.format, kind)
        _mark(source, part, kind)


def _mark(source: Source, part: Path, kind: str) -> None:
    """Write a note into a file that samples of damaged blocks are fill values."""
    if text := mark_of(source):
        write_incomplete_note(part, kind, text)


def check_whole(source: Source, damage: Damage) -> None:
    """Raise CorruptChunk if bytes of files are damaged, which no fill value can replace."""
    files = {TEMPLATE, *(a.name for a in source.arrays if {FILE, MANAGER} & a.attrs.keys())}
    if lost := [one for one in damage.blocks if one.array in files]:
        raise CorruptChunk(
            f"{lost[0]}; these are bytes of a file, which cannot be filled: decompress to Zarr",
            store=source.name,
        )


def check_template_kind(source: Source, kind: str) -> None:
    """Raise BadParams for a data set without a template, or with one that `kind` cannot use.

    For "hdf5" the format of the template is written, also uvh5.
    """
    template = find_template(source)
    if template is None:
        raise BadParams(
            f"{source.name} holds no template of a MeasurementSet, uvh5, uvfits, miriad or KAT "
            f"file, without which none is written: {suggest_remedy(source)}, or decompress to Zarr"
        )
    written = template.format if kind == "hdf5" and template.format in OF_HDF5 else kind
    if written != template.format and "hdf5" in (written, template.format):
        raise BadParams(f"{source.name} holds {template.format}, which cannot be written as {kind}")


@contextmanager
def _target(path: Path, kind: str, *, overwrite: bool) -> Iterator[Path]:
    if kind == "ms":
        with write_whole_folder(path, "table.dat", overwrite=overwrite) as part:
            yield part
    else:
        with write_whole_files([path], overwrite=overwrite) as (part,):
            yield part


def _write_native(
    source: Source, template: Template, path: Path, on_progress: OnProgress | None
) -> None:
    fill = {"ms": _fill_ms, "uvfits": _fill_uvfits}.get(template.format, _fill_hdf5)
    held = {part.path: _OpenColumns.of(source, part) for part in template.parts}
    for part in held.values():
        part.check(source)
    meter = Meter(sum(part.n_chunks() for part in held.values()), on_progress)
    with _template_errors(source.name), fill(template, path) as put:
        for part in held.values():
            part.write(partial(put, part.part), meter)
    put_files(source, template.files, path, _write_file)
    for array in source.arrays:
        if MANAGER in array.attrs:
            put_manager(path, array, partial(_write_file, array))


def _write_file(array: SourceArray, path: Path) -> None:
    """Write the bytes of an array as a file, chunk by chunk."""
    grid = ChunkGrid(array.shape, array.chunks or default_chunks(array))
    with path.open("wb") as file:
        for number in range(grid.n_chunks):
            file.write(_read(array, grid, number).tobytes())


@dataclass(frozen=True)
class _OpenColumns:
    """Part of a template, with the store's arrays and coordinates that fill its empty columns."""

    part: TemplatePart
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...]

    @classmethod
    def of(cls, source: Source, part: TemplatePart) -> _OpenColumns:
        """Return a part with the arrays and coordinates that have its columns."""

        def is_of(name: str, attrs: Mapping[str, object]) -> bool:
            return name.rpartition("/")[0] == part.path and attrs.get("item") in part.items

        arrays = tuple(a for a in source.arrays if is_of(a.name, a.attrs))
        return cls(part, arrays, tuple(c for c in source.coords if is_of(c.name, c.attrs)))

    def check(self, source: Source) -> None:
        """Raise BadParams for a missing column, and CorruptChunk for a wrong number of rows."""
        there = {array.attrs["item"] for array in self.arrays}
        there |= {coord.attrs["item"] for coord in self.coords}
        if missing := [item for item in self.part.items if item not in there]:
            raise BadParams(
                f"{source.name}: {', '.join(missing)} of the source must be there to write it "
                f"again: {suggest_remedy(source)}"
            )
        rows = self.part.rows.shape
        for array in self.arrays:
            if array.shape[: len(rows)] != rows:
                raise CorruptChunk(
                    f"the template has rows of {rows}, {array.name} of {array.shape[: len(rows)]}",
                    store=source.name,
                )

    def n_chunks(self) -> int:
        """Return the number of chunks in which the columns are written."""
        return sum(_grid(array, self.part.rows).n_chunks for array in self.arrays)

    def write(self, put: Callable[[str], Put], meter: Meter) -> None:
        """Write all columns: coordinates at once, arrays chunk by chunk."""
        rows = self.part.rows
        for coord in self.coords:
            values = rows.repeat_for_rows(np.asarray(coord.values), coord.dims)
            put(str(coord.attrs["item"]))(slice(0, rows.n_rows), values)
        for array in self.arrays:
            _write(array, rows, put(str(array.attrs["item"])), meter)


@contextmanager
def _template_errors(store: str) -> Iterator[None]:
    """Convert errors in the context to CorruptChunk: the template is no valid file."""
    try:
        yield
    except GangsawError:  # of a chunk, which it names
        raise
    except OSError as error:
        if error.errno is not None:  # errors of the disk have an errno, those of HDF5 have none
            raise
        raise CorruptChunk(
            f"the template is damaged: {describe_error(error)}", store=store
        ) from error
    except (RuntimeError, KeyError, TypeError) as error:
        raise CorruptChunk(
            f"the template is damaged: {describe_error(error)}", store=store
        ) from error


def _grid(array: SourceArray, rows: Rows) -> ChunkGrid:
    """Return chunks along the rows, whole along other axes: casacore writes a cell at once."""
    n = len(rows.shape)
    chunks = array.chunks or default_chunks(array)
    return ChunkGrid(array.shape, (*chunks[:n], *(max(1, e) for e in array.shape[n:])))


def _write(array: SourceArray, rows: Rows, put: Put, meter: Meter) -> None:
    grid = _grid(array, rows)
    for number in range(grid.n_chunks):
        samples = _read(array, grid, number)
        rows.write(put, grid.region(number)[: len(rows.shape)], samples)
        meter.add(1, samples.nbytes, samples.nbytes)


def _read(array: SourceArray, grid: ChunkGrid, number: int) -> NumpyArray:
    """Return the samples of a chunk; raise JobFailed, which names it, if it cannot be read."""
    try:
        with name_failed_chunk(f"{number} of {array.name}"):
            return array.read(grid.region(number))
    except ChunkFailed as error:
        raise JobFailed(str(error)) from error


@contextmanager
def _fill_hdf5(template: Template, path: Path) -> Iterator[PutColumn]:
    import h5py

    from gangsaw.tasks.radio.hdf5.hdf5 import to_file

    path.write_bytes(template.data.tobytes())
    with h5py.File(path, "r+", rdcc_nbytes=CACHE) as file:

        def put(_: TemplatePart, item: str) -> Put:
            dataset = file[item]

            def rows(run: Run, values: NumpyArray) -> None:
                dataset[run] = to_file(dataset, values)

            return rows

        yield put


@contextmanager
def _fill_uvfits(template: Template, path: Path) -> Iterator[PutColumn]:
    with extras_named(str(path)):
        from gangsaw.tasks.radio.uvdata.uvfits import write_empty_file

        put = write_empty_file(template.data, path)
    yield lambda _, item: put(item)


@contextmanager
def _fill_ms(template: Template, path: Path) -> Iterator[PutColumn]:
    with extras_named(str(path)):
        from casacore.tables import table as open_table

    from gangsaw.tasks.radio.measurement_sets.template import (
        DESCRIPTION,
        PART,
        copy_template_cells,
        extract_template,
    )

    path.mkdir(exist_ok=True)
    extract_template(template.data, path)
    table = open_table(str(path), ack=False, readonly=False)
    try:
        table.addrows(template.parts[0].rows.n_rows)
        copy_template_cells(table, path)

        def put(part: TemplatePart, item: str) -> Put:
            number = part.path.removeprefix(PART)
            own = table.query(f"{DESCRIPTION} == {int(number)}") if number else table

            def rows(run: Run, values: NumpyArray) -> None:
                own.putcol(item, np.ascontiguousarray(values), run.start, run.stop - run.start)

            return rows

        yield put
    finally:
        table.close()
