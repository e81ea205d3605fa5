"""GeoTIFF export: the header is written by GDAL, the samples as into any flat file.

GDAL allows one writer. So it writes only the small parts, and the samples are uncompressed: their
offsets are known once the file is closed. The COG driver of GDAL then converts such a file, tile by
tile, into a cloud-optimised one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import rasterio
import rasterio.shutil
from rasterio.enums import Resampling
from rasterio.errors import NotGeoreferencedWarning
from rasterio.windows import Window

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.report.progress import Meter
from gangsaw.tasks.formats.contract.axes import image_dims
from gangsaw.tasks.formats.contract.format import Work
from gangsaw.tasks.formats.exporting.atomic import write_whole_files
from gangsaw.tasks.formats.exporting.flat_export import FlatFile, export_grid, write_flat
from gangsaw.tasks.formats.geotiff.header import TiffHeader, header_of, image_array, mask_array
from gangsaw.tasks.formats.geotiff.tags import nodata_of
from gangsaw.tasks.sources.source import Source, SourceArray
from gangsaw.tasks.store.objects.files import allocate

STRIP = 256 << 10  # bytes of a strip: readers read whole strips, and each needs an offset
TILE = 16 << 20  # most bytes of a tile of all bands
TILES = (512, 256, 128)  # edges of tiles in pixels, the preferred one first
UNPREDICTED = ("float16", "complex64", "complex128")  # dtypes without a predictor in GDAL
CACHE = 64 << 20  # most bytes of GDAL's block cache
# no sidecar files, which would not be renamed with the image; the mask goes into the file itself
GDAL = {"GDAL_PAM_ENABLED": "NO", "GDAL_TIFF_INTERNAL_MASK": "YES", "GDAL_CACHEMAX": CACHE}


def export_geotiff(source: Source, path: Path, work: Work, *, cog: bool = False) -> None:
    """Write an image with its mask and header; `cog` makes the file cloud-optimised.

    Raises BadParams if a file is in the way, or if GeoTIFF does not support such samples.
    """
    header, array, mask = header_of(source), image_array(source), mask_array(source)
    chunks = sum(export_grid(each).n_chunks for each in (array, mask) if each is not None)
    meter = Meter(chunks, work.on_progress)
    with (
        write_whole_files([path], overwrite=work.overwrite) as (part,),
        _choose_flat_path(part, cog) as flat,
    ):
        layout = create_geotiff(header, flat, array)
        write_flat(array, flat, layout, meter, work.client)
        with configure_writing():
            if mask is not None:
                _write_mask(flat, mask, meter)
            if cog:
                _copy_cog(flat, part, header)
            else:
                _build_overviews(flat, header)


@contextmanager
def configure_writing() -> Iterator[None]:
    """Configure GDAL for writing, without warnings about images without georeference."""
    with warnings.catch_warnings(), rasterio.Env(**GDAL):
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        yield


@contextmanager
def _choose_flat_path(part: Path, cog: bool) -> Iterator[Path]:
    """Yield the path of the uncompressed file: `part`, or a temporary file if `cog` is set."""
    if not cog:
        yield part
        return
    flat = part.with_name(f"{part.name}.flat")
    try:
        yield flat
    finally:
        flat.unlink(missing_ok=True)


def create_geotiff(header: TiffHeader, path: Path, array: SourceArray) -> FlatFile:
    """Create a file with the header and space for the samples; return the layout of these."""
    band, y, x = image_dims(array)
    extent = dict(zip(array.dims, array.shape, strict=True))
    row = extent[x] * array.dtype.itemsize
    rows = min(max(1, STRIP // row), extent[y])
    padded = -(-extent[y] // rows) * rows  # GDAL writes the last strip of a band at full length
    allocate(path, header.n_bands * padded * row)  # fail early if the disk is too full
    with configure_writing():
        create(header, str(path), (extent[y], extent[x]), rows)
        offset = _offset(str(path), rows, row)
    allocate(path, path.stat().st_size)
    axes = {band: header.n_bands, y: padded, x: extent[x]}
    order = tuple(array.dims.index(name) for name in axes if name is not None)
    extents = tuple(n for name, n in axes.items() if name is not None)
    return FlatFile(array.shape, order, array.dtype.newbyteorder("<"), offset, extents)


def create(header: TiffHeader, path: str, sides: tuple[int, int], rows: int) -> None:
    """Create an empty file with this header, in strips of `rows` rows, band after band.

    `sides` are the extents (rows, columns) of the image.
    """
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        height=sides[0],
        width=sides[1],
        count=header.n_bands,
        nodata=nodata_of(header.metadata),
        interleave="band",
        blockysize=rows,
        bigtiff="IF_SAFER",
        endianness="LITTLE",
        sparse_ok=False,
        **header.creation,
    ) as image:
        header.write(image)


def _offset(path: str, rows: int, row_bytes: int) -> int:
    """Return the offset in bytes of the first sample.

    Raises BadParams if the strips do not follow each other without gaps.
    """
    with rasterio.open(path) as image:
        strips = -(-image.height // rows)
        bands, ends = range(image.count), {0, strips - 1}
        found = {(b, s): _position(image, b + 1, s) for b in bands for s in ends}
    first = found[0, 0]
    if any(at != first + (b * strips + s) * rows * row_bytes for (b, s), at in found.items()):
        raise BadParams(f"{path}: this version of GDAL does not write strips one after the other")
    return first


def _position(image: rasterio.DatasetReader, number: int, strip: int) -> int:
    return int(image.get_tag_item(f"BLOCK_OFFSET_0_{strip}", "TIFF", bidx=number))


def _write_mask(path: Path, mask: SourceArray, meter: Meter) -> None:
    """Write the mask chunk by chunk with GDAL, which compresses it."""
    grid = export_grid(mask)
    with rasterio.open(path, "r+") as image:
        for number in range(grid.n_chunks):
            region = grid.region(number)
            with name_failed_chunk(f"{number} of {mask.name}"):
                valid = mask.read(region)
            image.write_mask(valid, window=Window.from_slices(*region))
            meter.add(1, valid.nbytes, 0)


def _build_overviews(path: Path, header: TiffHeader) -> None:
    """Build the overviews that the source had from the written samples."""
    if header.metadata["overviews"]:
        with rasterio.open(path, "r+") as image:
            image.build_overviews(header.metadata["overviews"], _resampling(header))


def _resampling(header: TiffHeader) -> Resampling:
    name = header.metadata["resampling"].lower()
    return Resampling[name] if name in Resampling.__members__ else Resampling.nearest


def _copy_cog(flat: Path, part: Path, header: TiffHeader) -> None:
    pixel = header.n_bands * header.dtype.itemsize
    edge = next((edge for edge in TILES if edge * edge * pixel <= TILE), TILES[-1])
    rasterio.shutil.copy(
        flat,
        part,
        driver="COG",
        compress="DEFLATE",
        predictor="NO" if header.dtype.name in UNPREDICTED else "YES",
        blocksize=edge,
        bigtiff="IF_SAFER",
        overview_resampling=_resampling(header).name.upper(),
    )
