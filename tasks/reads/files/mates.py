"""Whether what stands side by side are mates, by the first words of their names."""

from __future__ import annotations

from collections.abc import Iterator

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.files.kernels import NAME, first_unlike
from gangsaw.tasks.reads.files.records import Mates, ReadFile
from gangsaw.tasks.reads.files.settings import Settings

SHOWN = 60  # letters of a name in a message


def checked(groups: Iterator[Mates], files: list[ReadFile], settings: Settings) -> Iterator[Mates]:
    """Yield groups of mates; the first ones whose names differ are a note of their file.

    Raises BadParams for them where names or the order are not kept, since nobody could tell then.
    """
    n, is_known = 0, False
    for mates in groups:
        if not is_known and len(mates) > 1:
            own, other = (records.field(NAME) for records in mates)
            at = int(first_unlike(*own, *other))
            if is_known := at < len(own.begins):
                why = _words(own.letters(at), other.letters(at), n + at, files)
                _tell(why, files[0], settings)
        n += len(mates[0])
        yield mates


def _words(own: bytes, other: bytes, number: int, files: list[ReadFile]) -> str:
    names = " and ".join(repr(name[:SHOWN].decode(errors="replace")) for name in (own, other))
    if len(files) == 1:
        return f"{files[0].path}: records {2 * number + 1} and {2 * number + 2}, {names}"
    return f"{files[0].path}, {files[1].path}: records {number + 1}, {names}"


def _tell(where: str, file: ReadFile, settings: Settings) -> None:
    why = f"{where}, do not look like mates"
    if settings.order != "kept" or settings.names != "keep":
        raise BadParams(
            f"{why}, and without names or order nobody could tell any more: say --pairing trusted "
            "if they are"
        )
    file.notes.append(why)
