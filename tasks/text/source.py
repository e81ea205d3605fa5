"""Files of text as sources: a file is read wherever a chunk is, what is compressed in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.contents import CONTENT, TEXT
from gangsaw.tasks.formats.flat import FlatArray, FlatSource
from gangsaw.tasks.sequences.files.measured import share_read
from gangsaw.tasks.sequences.files.streams import packed_sign
from gangsaw.tasks.sequences.files.text import text_of
from gangsaw.tasks.source import Coordinate, Described
from gangsaw.tasks.store.stamps import file_stamps
from gangsaw.tasks.text.info import ATTRIBUTE, TextInfo
from gangsaw.tasks.text.signs import START, start_of

NAME, DIM = "text", "byte"
OCTETS: Dtype = np.dtype(np.uint8)


class TextSource(FlatSource):
    """A file as it is: one array of its bytes."""


@dataclass(frozen=True)
class StreamedText:
    """The text of a pipe, or of a file that is compressed.

    It follows `gangsaw.tasks.source.Stream`. `outcome` are attributes known at the end, `notes`
    what a user should know then.
    """

    path: str
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    outcome: dict[str, object] = field(default_factory=dict, compare=False)
    notes: list[str] = field(default_factory=list, compare=False)

    @property
    def name(self) -> str:
        """The path."""
        return self.path

    @property
    def is_repeatable(self) -> bool:
        """Whether it can be read again: it is no pipe."""
        return Path(self.path).is_file()

    @property
    def share_read(self) -> float | None:
        """How much of the file was read so far, 0 to 1; None of a pipe."""
        return share_read([self.path]) if self.is_repeatable else None

    def stamps(self) -> Mapping[str, str]:
        """What changes with a file that is no pipe."""
        return file_stamps(self.path)

    @property
    def arrays(self) -> tuple[Described, ...]:
        """The bytes."""
        attrs = {CONTENT: TEXT}
        return (
            Described(name=NAME, shape=(0,), dtype=OCTETS, dims=(DIM,), chunks=None, attrs=attrs),
        )

    def pieces(self) -> Iterator[Mapping[str, NumpyArray]]:
        """Yield what comes next; BadParams where compressed data are damaged."""
        start = b""
        for text in text_of(self.path, self.notes):
            start += text[: START - len(start)].tobytes()
            yield {NAME: text}
        self.outcome[ATTRIBUTE] = TextInfo.of(start).to_dict()
        if self.is_repeatable:
            self.notes.append(
                f"{self.path} is compressed: the text in it is stored, not the compressed bytes"
            )


def open_text(path: str) -> TextSource | StreamedText:
    """Return the text of a file or pipe; of one that gzip, bzip2, xz or Zstandard made, inside."""
    if not Path(path).is_file() or packed_sign(start := start_of(path)) is not None:
        return StreamedText(path)
    place = Path(path).absolute()
    attrs = {CONTENT: TEXT}
    array = FlatArray(
        str(place), (place.stat().st_size,), OCTETS.str, (DIM,), name=NAME, attrs=attrs
    )
    return TextSource(path, (array,), attrs={ATTRIBUTE: TextInfo.of(start).to_dict()})
