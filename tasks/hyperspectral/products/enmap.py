"""EnMAP, L1B to L2A: a GeoTIFF, with the description of its bands in METADATA.XML next to it.

bandCharacterisation lists all bands by number: centre, width, gain and offset. The image of L2A and
L1C has all of them; L1B has two images, VNIR with the first and SWIR with the last bands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat.flat_array import file_identity
from gangsaw.tasks.sources.source import Coordinate, Described, GroupAttrs, Source, SourceArray

IMAGE = re.compile(r"(.*)SPECTRAL_IMAGE(_VNIR|_SWIR)?\.TIFF?", re.IGNORECASE)
FIELDS = {
    "wavelengthCenterOfBand": ("wavelength", "nm"),
    "FWHMOfBand": ("fwhm", "nm"),
    "GainOfBand": ("gain", ""),
    "OffsetOfBand": ("offset", ""),
}
MOST_BYTES = 64 << 20  # bytes of METADATA.XML that are searched; it has some 300 kB


def metadata_of(image: Path) -> Path | None:
    """Return the path of the metadata next to an image; None if it is not an EnMAP image."""
    if (match := IMAGE.fullmatch(image.name)) is None:
        return None
    names = (f"{match[1]}METADATA.XML", f"{match[1]}METADATA.xml")
    found = next((image.with_name(name) for name in names if image.with_name(name).is_file()), None)
    return found if found is not None and _bands_start(found) else None


def _bands_start(path: Path) -> bool:
    with path.open("rb") as file:
        return b"bandCharacterisation" in file.read(MOST_BYTES)


@dataclass(frozen=True)
class EnmapSource:
    """An image with the coordinates and attributes of its metadata file."""

    name: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...]
    groups: tuple[GroupAttrs, ...]
    attrs: dict[str, object]
    content: str

    def identity(self) -> str:
        """Return the identities of the image and of the metadata."""
        return self.content


def add_band_coordinates(source: Source, image: Path) -> Source:
    """Return an image with wavelengths, widths and the fill value of its bands.

    The text of the metadata is a coordinate, too. Raises BadParams if it is not XML.
    """
    path = metadata_of(image)
    if path is None:
        raise BadParams(f"{image}: no METADATA.XML of EnMAP exists next to it")
    root = _parsed(path)
    arrays = [_add_attributes(array, root, image) for array in source.arrays]
    cube = next((a for a in arrays if len(a.shape) == 3), None)
    new = [_text(path), *(() if cube is None else _bands(root, image, cube))]
    taken = {*(a.name for a in arrays), *(c.name for c in source.coords)}
    return EnmapSource(
        source.name,
        tuple(arrays),
        (*source.coords, *(coord for coord in new if coord.name not in taken)),
        getattr(source, "groups", ()),
        dict(source.attrs),
        f"{source.identity()}; {file_identity(str(path.absolute()))}",
    )


def _parsed(path: Path) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(path.read_bytes())
    except ElementTree.ParseError as error:
        raise BadParams(f"{path} is no XML: {error}") from None


def _text(path: Path) -> Coordinate:
    text = path.read_bytes().decode("utf-8", "replace")
    values = np.array(text, np.dtypes.StringDType())
    return Coordinate("metadata_xml", (), values)


def _bands(root: ElementTree.Element, image: Path, cube: SourceArray) -> Iterator[Coordinate]:
    """Yield the metadata of each band of the image as coordinates along the band axis."""
    listed = sorted(root.iter("bandID"), key=lambda band: int(band.get("number", "0")))
    n, name = cube.shape[0], image.name.upper()
    if len(listed) < n or (len(listed) > n and "_VNIR" not in name and "_SWIR" not in name):
        return
    bands = listed[-n:] if "_SWIR" in name else listed[:n]
    for field, (to, units) in FIELDS.items():
        texts = [band.findtext(field) for band in bands]
        if all(texts):
            told = {"units": units} if units else {}
            yield Coordinate(to, cube.dims[:1], np.array(texts, "f8"), told)


def _add_attributes(array: SourceArray, root: ElementTree.Element, image: Path) -> SourceArray:
    """Return the cube with the names of its coordinates, and a fill value if it has none."""
    if len(array.shape) != 3 or not isinstance(array, Described):
        return array
    names = str(array.attrs.get("coordinates", "")).split()
    names += [coord.name for coord in _bands(root, image, array)]
    said: dict[str, object] = {"coordinates": " ".join(names)} if names else {}
    fill = root.findtext(".//backgroundValue")
    if fill is not None and "_FillValue" not in array.attrs and array.dtype.kind in "iu":
        said["_FillValue"] = int(fill)
    return replace(array, attrs={**array.attrs, **said})
