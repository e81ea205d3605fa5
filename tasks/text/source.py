"""Text files as sources: random access to plain files, compressed ones as streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.contents import CONTENT, TEXT
from gangsaw.tasks.compressed_text.measured import share_read
from gangsaw.tasks.compressed_text.streams import packed_sign
from gangsaw.tasks.compressed_text.text import read_blocks
from gangsaw.tasks.formats.flat.flat_array import FlatArray, FlatSource
from gangsaw.tasks.sources.source import Coordinate, Described
from gangsaw.tasks.store.objects.versions import file_versions
from gangsaw.tasks.text.info import ATTRIBUTE, TextInfo
from gangsaw.tasks.text.text_detection import START, detect_compressor, read_start

NAME, DIM = "text", "byte"
OCTETS: Dtype = np.dtype(np.uint8)


class TextSource(FlatSource):
    """Text file with random access, as a source of one array of its bytes."""


@dataclass(frozen=True)
class StreamedText:
    """Text of a pipe, or of a compressed file, as a stream.

    It implements `gangsaw.tasks.sources.source.Stream`. `outcome` has Zarr attributes that are
    known at the end, `notes` the messages for the user then.
    """

    path: str
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    outcome: dict[str, object] = field(default_factory=dict, compare=False)
    notes: list[str] = field(default_factory=list, compare=False)

    @property
    def name(self) -> str:
        """Path of the file, as a name for messages."""
        return self.path

    @property
    def is_repeatable(self) -> bool:
        """True if it can be read again: it is not a pipe."""
        return Path(self.path).is_file()

    @property
    def share_read(self) -> float | None:
        """Share of the file read so far, 0 to 1; None for a pipe."""
        return share_read([self.path]) if self.is_repeatable else None

    def versions(self) -> Mapping[str, str]:
        """Return the version of the file."""
        return file_versions(self.path)

    @property
    def arrays(self) -> tuple[Described, ...]:
        """Description of the array to write, of bytes."""
        attrs = {CONTENT: TEXT}
        return (
            Described(name=NAME, shape=(0,), dtype=OCTETS, dims=(DIM,), chunks=None, attrs=attrs),
        )

    def pieces(self) -> Iterator[Mapping[str, NumpyArray]]:
        """Yield the next bytes of the text; raise BadParams if compressed data are damaged."""
        start = b""
        for text in read_blocks(self.path, self.notes):
            start += text[: START - len(start)].tobytes()
            yield {NAME: text}
        self.outcome[ATTRIBUTE] = TextInfo.detect(start).to_dict()
        if other := detect_compressor(start):
            self.notes.append(
                f"{self.path} is compressed by {other}, which is not read here: the compressed "
                "bytes are stored"
            )
        if self.is_repeatable:
            self.notes.append(
                f"{self.path} is compressed: the text in it is stored, not the compressed bytes"
            )


def open_text(path: str, *, is_named: bool = True) -> TextSource | StreamedText:
    """Open the text of a file or pipe; decompress gzip, bzip2, xz and Zstandard.

    Raises BadParams for a file of another compressor, unless the user named the format.
    """
    if not Path(path).is_file() or packed_sign(start := read_start(path)) is not None:
        return StreamedText(path)
    if (other := detect_compressor(start)) and not is_named:
        raise BadParams(
            f"{path} is compressed by {other}, which is not read here: unpack it first, or store "
            "the compressed bytes by --format text"
        )
    place = Path(path).absolute()
    attrs = {CONTENT: TEXT}
    array = FlatArray(
        str(place), (place.stat().st_size,), OCTETS.str, (DIM,), name=NAME, attrs=attrs
    )
    return TextSource(path, (array,), attrs={ATTRIBUTE: TextInfo.detect(start).to_dict()})
