"""GeoTIFF export: the header by GDAL, the samples as into any flat file.

GDAL allows one writer. So it writes only the small parts, and the samples are uncompressed: their
offsets are known once the file is closed. A cloud-optimised file is made of such a file by GDAL's
own driver, which reads it tile by tile.
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
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.engine.progress import Meter
from gangsaw.tasks.formats.atomic import allocate, whole_files
from gangsaw.tasks.formats.axes import image_dims
from gangsaw.tasks.formats.flat_export import FlatFile, export_grid, write_flat
from gangsaw.tasks.formats.format import Work
from gangsaw.tasks.formats.known.geotiff.header import (
    TiffHeader,
    header_of,
    image_array,
    mask_array,
)
from gangsaw.tasks.formats.known.geotiff.tags import nodata_of
from gangsaw.tasks.source import Source, SourceArray

STRIP = 256 << 10  # bytes: readers take whole strips, and an offset is kept for each
TILE = 16 << 20  # bytes that a tile of all bands may have
TILES = (512, 256, 128)  # edges, in pixels
UNPREDICTED = ("float16", "complex64", "complex128")  # samples that GDAL has no predictor for
CACHE = 64 << 20  # bytes that GDAL may hold of a file
# without files beside the image, which would not be renamed with it; the mask in the file itself
GDAL = {"GDAL_PAM_ENABLED": "NO", "GDAL_TIFF_INTERNAL_MASK": "YES", "GDAL_CACHEMAX": CACHE}


def export_geotiff(source: Source, path: Path, work: Work, *, cog: bool = False) -> None:
    """Write an image, its mask and all that `TiffHeader` holds; `cog` makes it cloud-optimised.

    Raises BadParams where a file stands in the way or a GeoTIFF has no such samples.
    """
    header, array, mask = header_of(source), image_array(source), mask_array(source)
    chunks = sum(export_grid(each).n_chunks for each in (array, mask) if each is not None)
    meter = Meter(chunks, work.on_progress)
    with whole_files([path], overwrite=work.overwrite) as (part,), _beside(part, cog) as flat:
        layout = make(header, flat, array)
        write_flat(array, flat, layout, meter, work.client)
        with writing():
            if mask is not None:
                _write_mask(flat, mask, meter)
            if cog:
                _copy_cog(flat, part, header)
            else:
                _build_overviews(flat, header)


@contextmanager
def writing() -> Iterator[None]:
    """Set GDAL up to write; that an image has no place is not to be warned of, it had none."""
    with warnings.catch_warnings(), rasterio.Env(**GDAL):
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        yield


@contextmanager
def _beside(part: Path, cog: bool) -> Iterator[Path]:
    """Yield the path of the uncompressed file: `part`, or one that is removed at the end."""
    if not cog:
        yield part
        return
    flat = part.with_name(f"{part.name}.flat")
    try:
        yield flat
    finally:
        flat.unlink(missing_ok=True)


def make(header: TiffHeader, path: Path, array: SourceArray) -> FlatFile:
    """Make a file with the header and space for the samples; return where these go."""
    band, y, x = image_dims(array)
    extent = dict(zip(array.dims, array.shape, strict=True))
    row = extent[x] * array.dtype.itemsize
    rows = min(max(1, STRIP // row), extent[y])
    allocate(path, header.n_bands * extent[y] * row)  # is there space at all?
    with writing():
        create(header, str(path), (extent[y], extent[x]), rows)
        offset = _offset(str(path), rows, row)
    allocate(path, path.stat().st_size)
    order = tuple(array.dims.index(name) for name in (band, y, x) if name is not None)
    return FlatFile(array.shape, order, array.dtype.newbyteorder("<"), offset)


def create(header: TiffHeader, path: str, sides: tuple[int, int], rows: int) -> None:
    """Write a file of nodata with this header: strips of so many rows, band after band."""
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        height=sides[0],
        width=sides[1],
        count=header.n_bands,
        nodata=nodata_of(header.kept),
        interleave="band",
        blockysize=rows,
        bigtiff="IF_SAFER",
        endianness="LITTLE",
        sparse_ok=False,
        **header.creation,
    ) as image:
        header.write(image)


def _offset(path: str, rows: int, row_bytes: int) -> int:
    """Return the place of the first sample; all others must follow it without a gap."""
    with rasterio.open(path) as image:
        last = -(-image.height // rows) - 1
        places = [
            [_place(image, number, strip) for strip in (0, last)]
            for number in range(1, image.count + 1)
        ]
        band_bytes = image.height * row_bytes
    first = places[0][0]
    starts = [first + i * band_bytes for i in range(len(places))]
    wanted = [[start, start + last * rows * row_bytes] for start in starts]
    if places != wanted:
        raise BadParams(f"{path}: GDAL laid out the strips in another order")
    return first


def _place(image: rasterio.DatasetReader, number: int, strip: int) -> int:
    return int(image.get_tag_item(f"BLOCK_OFFSET_0_{strip}", "TIFF", bidx=number))


def _write_mask(path: Path, mask: SourceArray, meter: Meter) -> None:
    """Write the mask chunk by chunk: a part of the file that GDAL compresses."""
    grid = export_grid(mask)
    with rasterio.open(path, "r+") as image:
        for number in range(grid.n_chunks):
            region = grid.region(number)
            with naming(f"{number} of {mask.name}"):
                valid = mask.read(region)
            image.write_mask(valid, window=Window.from_slices(*region))
            meter.add(1, valid.nbytes, 0)


def _build_overviews(path: Path, header: TiffHeader) -> None:
    """Build those of the source again, of the samples that were written."""
    if header.kept["overviews"]:
        with rasterio.open(path, "r+") as image:
            image.build_overviews(header.kept["overviews"], _resampling(header))


def _resampling(header: TiffHeader) -> Resampling:
    name = header.kept["resampling"].lower()
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
