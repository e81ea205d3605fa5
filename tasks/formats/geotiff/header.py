"""Header of an exported GeoTIFF: built from a source, written into an empty file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rasterio.control import GroundControlPoint
from rasterio.crs import CRS
from rasterio.enums import ColorInterp
from rasterio.transform import Affine

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.axes import image_dims
from gangsaw.tasks.formats.geotiff.bands import list_tag, write_tags
from gangsaw.tasks.formats.geotiff.grid import crs_of, grid_mapping, transform_of
from gangsaw.tasks.formats.geotiff.palette import Colours, palette_of
from gangsaw.tasks.formats.geotiff.tags import ATTR, DECODED, ImageMetadata, Tags, repair_metadata
from gangsaw.tasks.sources.source import Source, SourceArray
from gangsaw.tasks.store.dataset.original_form import select_for_image
from gangsaw.tasks.store.dataset.variables import fill_of

if TYPE_CHECKING:
    from rasterio.io import DatasetWriter

MASK = "mask"
NODATA = ("_FillValue", "missing_value", "nodata")
NAMES = ("long_name", "band_names")
# attributes that a GeoTIFF stores in another way than as a tag
NOT_TAGS = {*NODATA, *NAMES, *DECODED, "scales", "offsets", "_ARRAY_DIMENSIONS"}
PREDEFINED = ("red", "green", "blue")


@dataclass(frozen=True)
class TiffHeader:
    """All contents of a GeoTIFF except its samples.

    Attributes
    ----------
    n_bands : number of bands
    dtype : dtype of the samples
    metadata : metadata of the image and its bands; each list has a value per band
    crs, transform : georeference, None if it is not defined
    palette : palette of the first band, {} if there is none
    listed : image tag that lists the band tags that are coordinates
    """

    n_bands: int
    dtype: Dtype
    metadata: ImageMetadata
    crs: CRS | None
    transform: Affine | None
    palette: Colours = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)

    @property
    def creation(self) -> dict[str, object]:
        """Options of rasterio that are needed when the file is created."""
        points = [GroundControlPoint(*point) for point in self.metadata["gcps"]]
        options: dict[str, object] = {"photometric": self._photometric(), "dtype": self.dtype.name}
        if points:
            crs = CRS.from_wkt(self.metadata["gcps_crs"]) if self.metadata["gcps_crs"] else CRS()
            return options | {"gcps": points, "crs": crs}
        options |= {"crs": self.crs} if self.crs is not None else {}
        return options | ({"transform": self.transform} if self.transform is not None else {})

    def _photometric(self) -> str:
        colours = self.metadata["color_interpretation"]
        if self.palette:
            return "PALETTE"
        return "RGB" if tuple(colours[:3]) == PREDEFINED else "MINISBLACK"

    def write(self, image: DatasetWriter) -> None:
        """Write the header into a file that was just created."""
        metadata = self.metadata
        if self.palette:
            image.write_colormap(1, self.palette)
        image.colorinterp = [ColorInterp[name] for name in metadata["color_interpretation"]]
        image.descriptions = [name or "" for name in metadata["band_names"]]
        image.scales, image.offsets = metadata["scales"], metadata["offsets"]
        image.units = [unit or "" for unit in metadata["units"]]
        _write_tags(image, 0, metadata["tags"])
        for number, tags in enumerate(metadata["band_tags"], 1):
            _write_tags(image, number, tags)
        if self.listed:
            image.update_tags(**self.listed)


def _write_tags(image: DatasetWriter, number: int, tags: Tags) -> None:
    for domain, values in tags.items():
        if domain.startswith("xml:"):  # rasterio joins name and value by "=" into one XML text
            name, _, rest = next(iter(values.values())).partition("=")
            values = {name: rest}
        image.update_tags(number, ns=domain or None, **values)


def header_of(source: Source) -> TiffHeader:
    """Return the header of an image and its coordinates; raise BadParams if it is no image."""
    array = image_array(source)
    band, y, x = image_dims(array)
    n_bands = 1 if band is None else array.shape[array.dims.index(band)]
    mapping = grid_mapping(source.coords, array.attrs)
    metadata = _complete_metadata(source, array, n_bands)
    usual = [tags.setdefault("", {}) for tags in metadata["band_tags"]]
    write_tags(source.coords, band, usual)
    return TiffHeader(
        n_bands=n_bands,
        dtype=array.dtype,
        metadata=metadata,
        crs=crs_of(mapping),
        transform=transform_of(mapping, source.coords, (y, x)),
        palette=palette_of(source.coords),
        listed=list_tag(source.coords, band, usual[0]),
    )


def select_geotiff_image(source: Source) -> Source:
    """Return a source as a single image; raise BadParams if it contains several."""
    return select_for_image(source, image_array(source))


def image_array(source: Source) -> SourceArray:
    """Return the image array of a source; raise BadParams if it has several besides a mask."""
    images = [array for array in source.arrays if not is_mask(array)] or list(source.arrays)
    if len(images) == 1:
        return images[0]
    names = ", ".join(array.name for array in source.arrays)
    raise BadParams(f"{source.name} holds several arrays, name one with --variable: {names}")


def mask_array(source: Source) -> SourceArray | None:
    """Return the mask of the image of a source, or None."""
    masks = [array for array in source.arrays if is_mask(array)]
    return masks[0] if masks and len(source.arrays) > 1 else None


def is_mask(array: SourceArray) -> bool:
    """Return True if an array is a mask by its name, dtype and flag attribute."""
    is_flag = array.attrs.get("flag_meanings") == "invalid valid"
    return array.name == MASK and array.dtype.name == "uint8" and is_flag


def _complete_metadata(source: Source, array: SourceArray, n_bands: int) -> ImageMetadata:
    """Return the metadata of the source file; missing items are taken from the attributes."""
    attrs = {**source.attrs, **array.attrs}
    metadata = repair_metadata(str(attrs.pop(ATTR, "{}")), n_bands)
    names = next((attrs[key] for key in NAMES if _is_each(attrs.get(key), n_bands)), None)
    if names is not None and not any(metadata["band_names"]):
        metadata["band_names"] = [
            str(name) for name in (names if isinstance(names, list) else [names])
        ]
    _fill(metadata, "units", attrs.get("units"), None)
    _fill(metadata, "scales", attrs.get("scales", attrs.get("scale_factor")), 1.0)
    _fill(metadata, "offsets", attrs.get("offsets", attrs.get("add_offset")), 0.0)
    if "nodata" not in metadata and (nodata := _nodata(attrs, array.dtype)) is not None:
        metadata["nodata"] = repr(nodata)
    tags = metadata["tags"].setdefault("", {})
    for key, value in attrs.items():
        if key not in NOT_TAGS and key not in tags:
            tags[key] = value if isinstance(value, str) else json.dumps(value)
    return metadata


def _is_each(value: object, n_bands: int) -> bool:
    """Return True if a value is one text per band."""
    texts = value if isinstance(value, list) else [value]
    return len(texts) == n_bands and all(isinstance(text, str) for text in texts)


def _fill(metadata: ImageMetadata, key: str, value: object, default: object) -> None:
    """Set the metadata `key` of each band from an attribute, if the file did not define it.

    The attribute is a value for all bands, or a list with one for each; others are ignored.
    """
    values = metadata[key]  # type: ignore[literal-required]
    if value is None or any(old not in (default, "") for old in values):
        return
    given = value if isinstance(value, list) else [value] * len(values)
    if len(given) == len(values):
        metadata[key] = given  # type: ignore[literal-required]


def _nodata(attrs: Mapping[str, object], dtype: Dtype) -> object:
    for key in NODATA:
        value = fill_of({"_FillValue": attrs[key]}, dtype) if key in attrs else None
        if isinstance(value, int | float):
            return value
    return None
