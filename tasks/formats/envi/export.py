"""ENVI export: data file and header, with all fields and bytes of an ENVI source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.formats.contract.axes import image_dims
from gangsaw.tasks.formats.contract.layouts import INTERLEAVES
from gangsaw.tasks.formats.envi.header import DTYPES, LIBRARY, NOT_FLAT, STANDARD, is_library
from gangsaw.tasks.formats.envi.header_edit import edit_header
from gangsaw.tasks.formats.envi.metadata import (
    LIBRARY_DIMS,
    band_fields,
    can_store,
    check_names,
    fill_fields,
    get_header_text,
    header_fields,
)
from gangsaw.tasks.formats.envi.pair import DATA_SUFFIXES, existing_data
from gangsaw.tasks.formats.envi.surrounding_bytes import AFTER, BEFORE, DIMS, find_part
from gangsaw.tasks.formats.envi.text import Fields, header_text
from gangsaw.tasks.formats.exporting.atomic import write_whole_files
from gangsaw.tasks.formats.exporting.flat_export import (
    FlatFile,
    export_grid,
    only_array,
    raw_dims,
    set_byte_order,
    write_flat,
)
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.dataset.original_form import select_for_image
from gangsaw.tasks.store.objects.files import allocate

if TYPE_CHECKING:
    from distributed import Client

MARK = "gangsaw incomplete"  # header field that marks an image with damaged blocks
NO_BRACES = str.maketrans("{}", "()")  # a brace ends a header value
CODES = {kind: code for code, kind in DTYPES.items()}


@dataclass(frozen=True)
class EnviLayout:
    """Layout of the data file; None takes the layout of the source, else BSQ, little-endian."""

    interleave: str | None = None
    byte_order: str | None = None


def export_envi(
    source: SourceArray,
    coords: Sequence[Coordinate],
    path: Path,
    layout: EnviLayout | None = None,
    *,
    others: Sequence[SourceArray] = (),
    mark: str = "",
    overwrite: bool = False,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Write an ENVI image; `path` names its header or its data file.

    `others` and `coords` may hold the bytes of a data file before and after its samples; `mark`
    is the text of a header field that marks the image as incomplete.

    Raises BadParams if ENVI has no such dtype or rank, or if a file is in the way.
    """
    header, data = _names(path, ".sli" if source.dims == LIBRARY_DIMS else ".img")
    fields = _collect_fields(source, coords)
    interleave, order = _resolve(layout or EnviLayout(), fields)
    before, after = (find_part(name, coords, others) for name in (BEFORE, AFTER))
    flat = _flat_file(source, interleave, order, _length(before))
    parts = _lay_out_arrays(source, flat, before, after)
    wanted = _sort_fields(fields, _layout_fields(source, interleave, order, flat.offset))
    wanted |= {MARK: [mark.translate(NO_BRACES)]} if mark else {}
    with write_whole_files([data, header], overwrite=overwrite) as (data_part, header_part):
        allocate(data_part, flat.nbytes + _length(after))
        meter = Meter(sum(export_grid(part).n_chunks for part, _ in parts), on_progress)
        for part, place in parts:
            write_flat(part, data_part, place, meter, client)
        header_part.write_bytes(_header_bytes(source, wanted))


def _names(path: Path, suffix: str) -> tuple[Path, Path]:
    """Return the paths of header and data file.

    Raises BadParams if readers would find another data file for that header.
    """
    header, data = path, path.with_suffix(suffix)
    if path.suffix.lower() != ".hdr":
        known = path.suffix.lstrip(".").lower() in ("", *DATA_SUFFIXES)
        header, data = path.with_suffix(".hdr") if known else Path(f"{path}.hdr"), path
    found = existing_data(header)
    if found is None or found == data:
        return header, data
    if path == header and header.exists():
        return header, found  # replace this pair
    raise BadParams(f"{found} would be read as the data of {header}: give another name")


def _band_dim(source: SourceArray) -> str | None:
    """Return the name of the band axis; None for an image of one band."""
    return LIBRARY_DIMS[1] if source.dims == LIBRARY_DIMS else image_dims(source)[0]


def _collect_fields(source: SourceArray, coords: Sequence[Coordinate]) -> Fields:
    band = _band_dim(source)
    fields = header_fields(source.attrs, coords, band)
    check_names(fields, get_header_text(source.attrs))
    names, n_bands = source.attrs.get("band_names"), 1 if band is None else _extent(source, band)
    if isinstance(names, list) and len(names) != n_bands:  # some bands were removed
        fields.pop("band names", None)
    return {**fill_fields(source.attrs, source.dtype), **fields}


def _extent(source: SourceArray, dim: str) -> int:
    return source.shape[source.dims.index(dim)]


def _resolve(layout: EnviLayout, fields: Fields) -> tuple[str, str]:
    interleave = str(layout.interleave or fields.get("interleave", "bsq")).lower()
    if interleave not in INTERLEAVES:
        raise none_of("interleave", INTERLEAVES, interleave)
    return interleave, layout.byte_order or get_byte_order(fields)


def get_byte_order(fields: Fields) -> str:
    """Return the byte order of the source, "little" or "big", from its header fields."""
    return "big" if fields.get("byte order") == "1" else "little"


def _flat_file(source: SourceArray, interleave: str, order: str, offset: int) -> FlatFile:
    wanted = raw_dims(source, interleave)
    assert wanted is not None
    axes = tuple(source.dims.index(name) for name in wanted)
    return FlatFile(source.shape, axes, set_byte_order(source.dtype, order), offset)


def _length(part: SourceArray | None) -> int:
    return 0 if part is None else part.shape[0]


def _lay_out_arrays(
    source: SourceArray, flat: FlatFile, before: SourceArray | None, after: SourceArray | None
) -> list[tuple[SourceArray, FlatFile]]:
    """Return the arrays to write into the data file, with their layouts: image, bytes around it."""
    around = [(before, 0), (after, flat.nbytes)]
    bytes_of = [
        (part, FlatFile(part.shape, (0,), part.dtype, offset))
        for part, offset in around
        if part is not None
    ]
    return [(source, flat), *bytes_of]


def _layout_fields(source: SourceArray, interleave: str, order: str, offset: int) -> Fields:
    extent = dict(zip(source.dims, source.shape, strict=True))
    band, y, x = image_dims(source)
    return {
        "samples": str(extent[x]),
        "lines": str(extent[y]),
        "bands": str(extent[band] if band is not None else 1),
        "header offset": str(offset),
        "file type": LIBRARY if source.dims == LIBRARY_DIMS else STANDARD,
        "data type": str(_code(source)),
        "interleave": interleave,
        "byte order": "1" if order == "big" else "0",
    }


def _code(source: SourceArray) -> int:
    """Return the ENVI data type code of a dtype; raise BadParams if it has none."""
    kind = f"{source.dtype.kind}{source.dtype.itemsize}"
    if kind not in CODES:
        raise BadParams(f"ENVI has no {source.dtype.name} samples; decompress to Zarr or NetCDF")
    return CODES[kind]


def image_of(source: Source) -> tuple[SourceArray, tuple[SourceArray, ...]]:
    """Return the image array and the arrays of bytes around its samples.

    Raises BadParams if the source contains several images.
    """
    others = tuple(a for a in source.arrays if a.dims == DIMS.get(a.name))
    images = [array for array in source.arrays if array not in others]
    return (images[0], others) if len(images) == 1 else (only_array(source), ())


def select_envi_image(source: Source) -> Source:
    """Return a source as a single image; raise BadParams if it contains several."""
    return select_for_image(source, image_of(source)[0])


def check_envi_image(source: Source) -> None:
    """Raise BadParams unless the source is one image of a dtype that ENVI supports."""
    array, _ = image_of(source)
    image_dims(array)
    _code(array)
    _collect_fields(array, source.coords)


def lost_fields(source: Source) -> Iterator[str]:
    """Yield a description of each coordinate that neither header nor data file can hold."""
    array, _ = image_of(source)
    fields = _collect_fields(array, source.coords)
    of_bands = band_fields(source.coords, _band_dim(array)).values()
    for coord in source.coords:
        if coord not in of_bands and not can_store(coord, fields):
            yield f"coordinate {coord.name}"


def _sort_fields(header: Fields, layout: Fields) -> Fields:
    """Return the header fields in ENVI's order, with the description first.

    The file type of the source is kept if it is valid for the new layout.
    """
    first = {key: header[key] for key in ("description",) if key in header}
    file_type = {
        key: header[key] for key in ("file type",) if key in header and _is_true(header, layout)
    }
    rest = {key: value for key, value in header.items() if key not in layout and key not in first}
    return {**first, **layout, **file_type, **rest}


def _is_true(header: Fields, layout: Fields) -> bool:
    """Return True if the source's header field "file type" is valid for the new layout."""
    if is_library(header):
        return layout["bands"] == "1"
    return layout["file type"] != LIBRARY and not NOT_FLAT.search(str(header["file type"]))


def _header_bytes(source: SourceArray, wanted: Fields) -> bytes:
    """Return the source's header with updated fields, or a new header if it has none."""
    kept = get_header_text(source.attrs)
    if kept is None:
        return header_text(wanted).encode()
    text = edit_header(kept, wanted)
    try:
        return text.encode(kept.encoding)
    except UnicodeEncodeError:  # a new value has characters that Latin-1 lacks
        return text.encode()
