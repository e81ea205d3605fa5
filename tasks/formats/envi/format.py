"""Format entry of ENVI images: a text header and a flat data file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

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
from gangsaw.tasks.formats.contract.layouts import BYTE_ORDER, INTERLEAVE
from gangsaw.tasks.store.damage import mark_of

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.formats.contract.layouts import FlatLayout
    from gangsaw.tasks.formats.envi.source import EnviSource
    from gangsaw.tasks.sources.source import Source

# attributes that a header can hold as fields, or that contain header fields
ATTRS = frozenset({"envi", "envi_header", "envi_encoding", "description", "band_names"})
ATTRS |= {"long_name", "_FillValue", "nodata"}
INTERLEAVED = {".bsq": "bsq", ".bil": "bil", ".bip": "bip"}


def _sure(look: Look) -> Sure:
    from gangsaw.tasks.formats.envi.pair import headers_of

    if look.is_folder or look.is_address or look.is_stream:
        return Sure.NO
    if look.start.startswith(b"ENVI"):
        return Sure.CONTENT
    is_one = look.suffix == ".hdr" or headers_of(Path(look.path))
    return Sure.PERHAPS if is_one else Sure.NO


def _open(paths: Paths, _: SourceOptions) -> Source:
    from gangsaw.tasks.formats.envi.pair import find_header_file, is_header
    from gangsaw.tasks.formats.envi.source import open_envi

    (path,) = paths
    if is_header(Path(path)):
        return open_envi(path)
    return open_envi(str(find_header_file(Path(path))), path)


def _open_independent_reader(paths: Paths, options: SourceOptions) -> IndependentReader | None:
    from gangsaw.tasks.formats.envi.independent_reader import open_envi_reader

    source = cast("EnviSource", _open(paths, options))  # finds the pair of header and data file
    return open_envi_reader(source.header_path, source.arrays[0].path)


def _fit(source: Source) -> Fit:
    from gangsaw.tasks.formats.contract.losses import is_numbering, lost_attributes, lost_groups
    from gangsaw.tasks.formats.envi.export import check_envi_image, lost_fields, select_envi_image

    if refusal := catch_refusal(lambda: check_envi_image(select_envi_image(source))):
        return Fit(refusal)
    source = select_envi_image(source)
    numbers = {f"coordinate {coord.name}" for coord in source.coords if is_numbering(coord)}
    fields = (field for field in lost_fields(source) if field not in numbers)
    return Fit(lost=(*fields, *lost_attributes(source, ATTRS), *lost_groups(source)))


def _export(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.formats.envi.export import (
        EnviLayout,
        export_envi,
        image_of,
        select_envi_image,
    )

    target = Path(paths[0])
    layout = cast("FlatLayout", options.own)
    interleave = layout.get("interleave", INTERLEAVED.get(target.suffix.lower()))
    mark, source = mark_of(source), select_envi_image(source)
    image, others = image_of(source)
    export_envi(
        image,
        source.coords,
        target,
        EnviLayout(interleave, layout.get("byte_order")),
        others=others,
        mark=mark,
        overwrite=work.overwrite,
        client=work.client,
        on_progress=work.on_progress,
    )


ENVI = Format(
    name="envi",
    title="ENVI",
    about="a header and its data file, either of them named",
    sure=_sure,
    open=_open,
    independent_reader=_open_independent_reader,
    export=_export,
    export_options=(INTERLEAVE, BYTE_ORDER),
    suffixes=(".hdr", ".img", ".dat", *INTERLEAVED, ".sli"),
    damaged=("fill",),
    fit=_fit,
)
