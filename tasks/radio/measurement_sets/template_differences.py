"""Differences between two templates of MeasurementSets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.radio.measurement_sets.template import CELLS_FOLDER, extract_template
from gangsaw.tasks.radio.template_differences import list_item_differences, make_comparable
from gangsaw.tasks.store.objects.versions import LOCK


def compare_ms_templates(stored: NumpyArray, wanted: NumpyArray) -> list[str]:
    """Return a line for each difference between two templates of sets, each (bytes,) uint8."""
    return [] if np.array_equal(stored, wanted) else list(_tables(stored, wanted))


def _tables(stored: NumpyArray, wanted: NumpyArray) -> Iterator[str]:
    """Yield differences table by table; cells are read only if the files of a table differ."""
    with TemporaryDirectory() as folder:
        a, b = Path(folder) / "a", Path(folder) / "b"
        for place, data in ((a, stored), (b, wanted)):
            place.mkdir()
            extract_template(np.asarray(data, np.uint8), place)
        names = sorted({t.parent.relative_to(p) for p in (a, b) for t in p.rglob("table.dat")})
        for name in names:
            if _files(a / name) != _files(b / name):
                lines = list_item_differences(_cells(a / name), _cells(b / name))
                yield from (f"{_title(name)}: {line}" for line in lines)


def _title(name: Path) -> str:
    return {".": "main table", CELLS_FOLDER: "main table"}.get(str(name), str(name))


def _files(folder: Path) -> dict[str, bytes]:
    files = (f for f in folder.glob("*") if f.is_file() and f.name != LOCK)
    return {file.name: file.read_bytes() for file in files}


def _cells(folder: Path) -> dict[str, object]:
    """Return the keywords and every cell of a table; nothing if it does not exist."""
    if not (folder / "table.dat").is_file():
        return {}
    try:
        return _cells_of(folder)
    except RuntimeError:  # the template excludes one of its files
        return {f"file {name}": data for name, data in _files(folder).items()}


def _cells_of(folder: Path) -> dict[str, object]:
    from casacore.tables import table as open_table

    with open_table(str(folder), ack=False, lockoptions="usernoread") as table:
        keywords = {k: v for k, v in table.getkeywords().items() if "Table: " not in str(v)}
        found: dict[str, object] = {f"keyword {k}": make_comparable(v) for k, v in keywords.items()}
        for name in table.colnames():
            rows = range(table.nrows())
            is_scalar = table.isscalarcol(name)
            cells = (r if is_scalar or table.iscelldefined(name, r) else None for r in rows)
            values = [None if r is None else make_comparable(table.getcell(name, r)) for r in cells]
            found[f"column {name}"] = (make_comparable(table.getcolkeywords(name)), values)
    return found
