"""Format entry of raw files: samples alone, in a layout that the user describes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gangsaw.codecs.core.plugins.options import Option, extents
from gangsaw.tasks.formats.contract.format import (
    ExportOptions,
    Fit,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
    catch_refusal,
)
from gangsaw.tasks.formats.contract.layouts import BYTE_ORDER, BYTE_ORDERS, INTERLEAVE, INTERLEAVES

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.formats.contract.layouts import FlatLayout, RawLayout
    from gangsaw.tasks.sources.source import Source, SourceArray


def _sure(look: Look) -> Sure:
    """Return the confidence by the options: `EXACTLY` if both --shape and --dtype are given.

    With only one of them, a format that recognises the content wins.
    """
    given = look.requested & {"shape", "dtype"}
    if look.is_folder or look.is_address or look.is_stream or not given:
        return Sure.NO
    return Sure.EXACTLY if len(given) == 2 else Sure.PERHAPS


def _open(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.formats.raw.source import open_raw

    own = cast("RawLayout", options.own)
    return open_raw(
        paths[0],
        own.get("shape"),
        own.get("dtype"),
        own.get("interleave", "bsq"),
        own.get("byte_order"),
        own.get("offset", 0),
        accept_loss=options.accept_loss,
    )


def _open_independent_reader(paths: Paths, options: SourceOptions) -> IndependentReader:
    from gangsaw.tasks.formats.raw.independent_reader import open_raw_reader

    own = cast("RawLayout", options.own)
    shape, dtype = own.get("shape"), own.get("dtype")
    assert shape is not None, "it was opened before"
    assert dtype is not None, "it was opened before"
    interleave, byte_order = own.get("interleave", "bsq"), own.get("byte_order")
    return open_raw_reader(paths[0], shape, dtype, interleave, byte_order, own.get("offset", 0))


def _fit(source: Source) -> Fit:
    from gangsaw.tasks.formats.contract.losses import lost_attributes, lost_groups
    from gangsaw.tasks.formats.exporting.flat_export import only_array
    from gangsaw.tasks.formats.raw.source import is_layout

    if refusal := catch_refusal(lambda: only_array(source)):
        return Fit(refusal)
    array = only_array(source)
    coords = [f"coordinate {coord.name}" for coord in source.coords]
    # "envi" only describes the layout of a raw source; reading the new file recreates it
    attrs = lost_attributes(source, {"envi"} if is_layout(array.attrs) else set())
    return Fit(lost=(*coords, *attrs, *lost_groups(source), *_lost_names(array)))


def _lost_names(array: SourceArray) -> Iterator[str]:
    """Yield a description of axis names that a raw source would not get."""
    from gangsaw.tasks.formats.raw.source import usual_dims

    if tuple(array.dims) not in usual_dims(len(array.shape)):
        yield f"names of the axes {', '.join(array.dims)}"


def _export(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.formats.envi.export import get_byte_order
    from gangsaw.tasks.formats.envi.metadata import header_fields
    from gangsaw.tasks.formats.exporting.flat_export import export_raw, only_array, raw_dims

    array, layout = only_array(source), cast("FlatLayout", options.own)
    kept = get_byte_order(header_fields(array.attrs, (), None))
    export_raw(
        array,
        Path(paths[0]),
        dims=raw_dims(array, layout.get("interleave")),
        byte_order=layout.get("byte_order", kept),
        overwrite=work.overwrite,
        client=work.client,
        on_progress=work.on_progress,
    )


RAW = Format(
    name="raw",
    title="raw",
    about="samples alone, as `--shape` and `--dtype` say",
    sure=_sure,
    open=_open,
    independent_reader=_open_independent_reader,
    options=(
        Option("shape", "Shape as bands,rows,columns, for every interleave.", read=extents),
        Option("dtype", "Sample type, such as uint16."),
        Option("interleave", "Order of the axes.", "bsq", choices=tuple(INTERLEAVES)),
        Option(
            "byte_order",
            "Byte order of the samples.",
            "that of --dtype",
            choices=tuple(BYTE_ORDERS),
        ),
        Option("offset", "Bytes before the first sample.", "0", read=int),
    ),
    export=_export,
    export_options=(INTERLEAVE, BYTE_ORDER),
    suffixes=(".raw", ".bin"),
    damaged=("fill",),
    fit=_fit,
)
