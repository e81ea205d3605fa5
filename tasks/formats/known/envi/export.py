"""ENVI export: data file and header, every field that an ENVI source had included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.formats.atomic import allocate, whole_files
from gangsaw.tasks.formats.axes import image_dims
from gangsaw.tasks.formats.flat_export import (
    FlatFile,
    export_grid,
    only_array,
    ordered_dtype,
    raw_dims,
    write_flat,
)
from gangsaw.tasks.formats.known.envi.header import (
    BAND_FIELDS,
    DATA_SUFFIXES,
    DTYPES,
    Fields,
    existing_data,
    header_text,
)
from gangsaw.tasks.formats.known.envi.source import header_fields
from gangsaw.tasks.formats.layouts import INTERLEAVES
from gangsaw.tasks.source import Coordinate, Source, SourceArray

if TYPE_CHECKING:
    from distributed import Client

CODES = {kind: code for code, kind in DTYPES.items()}
DEFAULT_SUFFIX = ".img"


@dataclass(frozen=True)
class EnviLayout:
    """Layout of the data file; None is that of the source, else BSQ and little-endian."""

    interleave: str | None = None
    byte_order: str | None = None


def export_envi(
    source: SourceArray,
    coords: Iterable[Coordinate],
    path: Path,
    layout: EnviLayout | None = None,
    *,
    overwrite: bool = False,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Write an ENVI image; `path` names its header or its data file.

    Raises BadParams where ENVI has no such dtype or rank, or a file stands in the way.
    """
    header, data = _names(path)
    band, *_ = dims = image_dims(source)
    fields = header_fields(source.attrs, coords, band)
    interleave, order = _resolve(layout or EnviLayout(), fields)
    flat = _flat_file(source, interleave, order)
    layout_fields = _layout_fields(source, dims, interleave, order)
    text = header_text(_ordered(fields, layout_fields))
    with whole_files([data, header], overwrite=overwrite) as (data_part, header_part):
        allocate(data_part, flat.nbytes)
        meter = Meter(export_grid(source).n_chunks, on_progress)
        write_flat(source, data_part, flat, meter, client)
        header_part.write_text(text, encoding="utf-8")


def _names(path: Path) -> tuple[Path, Path]:
    """Return header and data file; readers must not find another data file for that header."""
    header, data = path, path.with_suffix(DEFAULT_SUFFIX)
    if path.suffix.lower() != ".hdr":
        known = path.suffix.lstrip(".").lower() in ("", *DATA_SUFFIXES)
        header, data = path.with_suffix(".hdr") if known else Path(f"{path}.hdr"), path
    found = existing_data(header)
    if found is None or found == data:
        return header, data
    if path == header and header.exists():
        return header, found  # this pair is what to replace
    raise BadParams(f"{found} would be taken for the data of {header}: give another name")


def _resolve(layout: EnviLayout, fields: Fields) -> tuple[str, str]:
    interleave = str(layout.interleave or fields.get("interleave", "bsq")).lower()
    if interleave not in INTERLEAVES:
        raise BadParams(f"interleave must be bsq, bil or bip, got {interleave!r}")
    return interleave, layout.byte_order or kept_byte_order(fields)


def kept_byte_order(fields: Fields) -> str:
    """Return the source's byte order, "little" or "big", from its header fields."""
    return "big" if fields.get("byte order") == "1" else "little"


def _flat_file(source: SourceArray, interleave: str, order: str) -> FlatFile:
    wanted = raw_dims(source, interleave)
    assert wanted is not None
    axes = tuple(source.dims.index(name) for name in wanted)
    return FlatFile(source.shape, axes, ordered_dtype(source.dtype, order))


def _layout_fields(
    source: SourceArray, dims: tuple[str | None, str, str], interleave: str, order: str
) -> Fields:
    extent = dict(zip(source.dims, source.shape, strict=True))
    band, y, x = dims
    return {
        "samples": str(extent[x]),
        "lines": str(extent[y]),
        "bands": str(extent[band] if band is not None else 1),
        "header offset": "0",
        "file type": "ENVI Standard",
        "data type": str(_code(source)),
        "interleave": interleave,
        "byte order": "1" if order == "big" else "0",
    }


def _code(source: SourceArray) -> int:
    """Return ENVI's number of the dtype; BadParams where it has none."""
    kind = f"{source.dtype.kind}{source.dtype.itemsize}"
    if kind not in CODES:
        raise BadParams(f"ENVI has no {source.dtype.name} samples; decompress to Zarr or NetCDF")
    return CODES[kind]


def check_fits(source: Source) -> None:
    """Raise BadParams for what is not one image of a dtype that ENVI has."""
    array = only_array(source)
    image_dims(array)
    _code(array)


def lost_fields(source: Source) -> Iterator[str]:
    """Yield the coordinates for which a header has no field."""
    array = only_array(source)
    band, *_ = image_dims(array)
    has_map = "map info" in header_fields(array.attrs, (), None)
    for coord in source.coords:
        is_field = coord.dims == (band,) and coord.name.replace("_", " ") in BAND_FIELDS
        if not is_field and not (has_map and coord.name in ("x", "y")):
            yield f"coordinate {coord.name}"


def _ordered(kept: Fields, layout: Fields) -> Fields:
    """Description first, as ENVI writes it; what the source said of its type stays."""
    first = {key: kept[key] for key in ("description",) if key in kept}
    file_type = {key: kept[key] for key in ("file type",) if key in kept}
    rest = {key: value for key, value in kept.items() if key not in layout and key not in first}
    return {**first, **layout, **file_type, **rest}
