"""Template of a MeasurementSet: a tar file of the set without the rows of its main table.

It contains the files of the subtables unchanged. The main table keeps its columns, storage managers
and keywords, without rows. Columns that are not regular arrays are in a separate table with all
rows.
"""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.radio.measurement_sets.managers import replace_managers
from gangsaw.tasks.store.objects.versions import LOCK

if TYPE_CHECKING:
    from casacore import tables

DESCRIPTION = "DATA_DESC_ID"
PART = "data_description_"  # name of the group of a data description, followed by its number
CELLS_FOLDER = "gangsaw_kept_columns"


def make_ms_template(
    path: str,
    table: tables.table,
    with_cells: Sequence[str],
    without: Sequence[str] = (),
    apart: Collection[str] = (),
) -> NDArray[np.uint8]:
    """Return the bytes of a tar file of a MeasurementSet without the rows of its main table.

    The cells of the columns `with_cells` are included. The columns `without` are left out.
    `apart` are files of subtables that the store contains as arrays, so they are not included.
    """
    buffer = io.BytesIO()
    with TemporaryDirectory() as folder, tarfile.open(fileobj=buffer, mode="w") as archive:
        empty = Path(folder) / "main"
        managers = replace_managers(path, table.getdminfo())
        table.copy(str(empty), deep=True, valuecopy=True, dminfo=managers, copynorows=True).close()
        if without:
            _remove(empty, without)
        for file in sorted(empty.glob("table.*")):
            if file.name != LOCK:  # LOCK may have a newer number of rows than table.dat
                _add(archive, file, file.name)
        for name, where in subtables(table).items():
            _add_folder(archive, where, name, apart)
        if with_cells:
            cells = Path(folder) / "kept"
            columns = table.query(columns=",".join(with_cells))
            columns.copy(str(cells), deep=True, valuecopy=True).close()
            _add_folder(archive, cells, CELLS_FOLDER)
    return np.frombuffer(buffer.getvalue(), np.uint8)


def _remove(folder: Path, columns: Sequence[str]) -> None:
    from casacore.tables import table as open_table

    with open_table(str(folder), ack=False, readonly=False) as main:
        main.removecols(list(columns))


def subtables(table: tables.table) -> dict[str, Path]:
    """Return the folders of the subtables by name."""
    found = {key: str(value) for key, value in table.getkeywords().items()}
    prefix = "Table: "
    return {k: Path(v.removeprefix(prefix)) for k, v in found.items() if v.startswith(prefix)}


def _add_folder(
    archive: tarfile.TarFile, folder: Path, name: str, apart: Collection[str] = ()
) -> None:
    for file in sorted(folder.rglob("*")):  # lock files too: they may have the number of rows
        place = f"{name}/{file.relative_to(folder).as_posix()}"
        if place not in apart:
            _add(archive, file, place)


def _add(archive: tarfile.TarFile, file: Path, name: str) -> None:
    """Add a file without its owner and time: equal tables give equal bytes."""
    if not file.is_file():
        return
    entry = tarfile.TarInfo(name)
    entry.size = file.stat().st_size
    with file.open("rb") as data:
        archive.addfile(entry, data)


def extract_template(template: NDArray[np.uint8], folder: Path) -> None:
    """Write the tables of a template to a folder; raise CorruptChunk for damaged bytes."""
    try:
        with tarfile.open(fileobj=io.BytesIO(template.tobytes())) as archive:
            archive.extractall(folder, filter="data")  # no file outside of the folder
    except (tarfile.TarError, OSError) as error:
        raise CorruptChunk(f"the template is damaged: {error}", store=str(folder)) from error


def copy_template_cells(main: tables.table, folder: Path) -> None:
    """Copy the irregular cells of an extracted template to the main table, then delete them.

    The template has them in a table of their own.
    """
    from casacore.tables import table as open_table

    if not (folder / CELLS_FOLDER).is_dir():
        return
    with open_table(str(folder / CELLS_FOLDER), ack=False, lockoptions="usernoread") as cells:
        cells.copyrows(main, 0, 0, cells.nrows())
    shutil.rmtree(folder / CELLS_FOLDER)
