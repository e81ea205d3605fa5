"""Stores of text back into files: the same bytes."""

from __future__ import annotations

from gangsaw.codecs.core.contents import CONTENT
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.format import Fit, Paths, Work, refused
from gangsaw.tasks.formats.lost import lost_attributes, lost_groups
from gangsaw.tasks.sequences.files.targets import open_targets
from gangsaw.tasks.source import Source, SourceArray
from gangsaw.tasks.text.info import ATTRIBUTE, TextInfo

STEP = 1 << 26  # bytes that are read at once, where no chunk is longer


def fit_text(source: Source) -> Fit:
    """Say whether a store holds bytes alone, on one axis."""
    if refusal := refused(lambda: only_bytes(source)):
        return Fit(refusal)
    coords = [f"coordinate {coord.name}" for coord in source.coords]
    attrs = [
        name for name in lost_attributes(source, {CONTENT}) if name != f"attribute {ATTRIBUTE}"
    ]
    is_own = TextInfo.from_attrs(source.attrs) is not None
    return Fit(lost=(*coords, *attrs, *lost_groups(source)), is_own=is_own)


def only_bytes(source: Source) -> SourceArray:
    """Return the one array of a source; BadParams where it is none of bytes on one axis."""
    array = source.arrays[0]
    if len(source.arrays) > 1 or array.dtype.str != "|u1" or len(array.shape) != 1:
        raise BadParams(
            f"{source.name} holds no text, which is one array of uint8 on one axis: name another "
            "--format"
        )
    return array


def export_text(source: Source, paths: Paths, work: Work) -> None:
    """Write all bytes to a file, or to standard output.

    Raises
    ------
    BadParams : the store holds no text, or the target exists
    CorruptChunk : bytes of the store are damaged
    """
    array = only_bytes(source)
    (n,), (step,) = array.shape, array.chunks or (STEP,)
    with open_targets(paths, work) as (file,):
        for first in range(0, n, step):
            file.write(array.read((slice(first, min(first + step, n)),)).data)
