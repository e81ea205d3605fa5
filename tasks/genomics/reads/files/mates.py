"""Check that adjacent records are mates, by the first words of their names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.reads.files.kernels import (
    NAME,
    cut_names,
    find_unmatched_name,
    same_lines,
)
from gangsaw.tasks.genomics.reads.files.records import Field, Mates, ReadFile
from gangsaw.tasks.genomics.reads.files.settings import Settings

MARK = b"/1"
SHOWN = 60  # characters of a name in a message


def check_mate_names(
    groups: Iterator[Mates], files: list[ReadFile], settings: Settings
) -> Iterator[Mates]:
    """Yield batches of mates unchanged; note in the file where names of mates first differ.

    Raises BadParams for them if names or order are not stored, since the store could not show it.
    """
    n, is_known = 0, False
    for mates in groups:
        if not is_known and len(mates) > 1:
            which, at = _find_unmatched_name([records.field(NAME) for records in mates])
            if is_known := at < len(mates[0]):
                names = [mates[i].field(NAME).line(at) for i in (0, which)]
                own = files if len(files) == 1 else [files[0], files[which]]
                _tell(_words(names, n + at, own), files[0], settings)
        n += len(mates[0])
        yield mates


def _find_unmatched_name(names: list[Field]) -> tuple[int, int]:
    """Return the number of the file whose name first differs from the first file's, and the record.

    With two files, names of mates are compared. With more, index reads have the mark of a mate, so
    only first words are compared.
    """
    if len(names) == 2:
        return 1, int(find_unmatched_name(*names[0], *names[1]))
    first, *others = (_cut(field) for field in names)
    is_same = np.empty((len(others), len(first.begins)), bool)
    for same, other in zip(is_same, others, strict=True):
        same_lines(*first, *other, same)
    at = int(np.argmin(is_same.all(axis=0))) if not is_same.all() else len(first.begins)
    return 1 + int(np.argmin(is_same[:, at])) if at < len(first.begins) else 1, at


def _cut(names: Field) -> Field:
    """Return the first words of names, without the mark of a file: /1 to /9."""
    ends = np.empty_like(names.ends)
    cut_names(*names, ends)
    has_mark = np.flatnonzero(ends - names.begins > len(MARK))
    slash, digit = (names.text[ends[has_mark] - back] for back in (2, 1))
    is_mark = (slash == MARK[0]) & (digit > ord("2")) & (digit <= ord("9"))  # /1, /2 are cut
    ends[has_mark[is_mark]] -= len(MARK)
    return names._replace(ends=ends)


def _words(names: list[bytes], number: int, files: list[ReadFile]) -> str:
    shown = " and ".join(repr(name[:SHOWN].decode(errors="replace")) for name in names)
    if len(files) == 1:
        return f"{files[0].path}: records {2 * number + 1} and {2 * number + 2}, {shown}"
    return f"{files[0].path}, {files[1].path}: records {number + 1}, {shown}"


def _tell(where: str, file: ReadFile, settings: Settings) -> None:
    why = f"{where}, do not look like mates"
    if settings.order != "kept" or settings.names != "keep":
        raise BadParams(
            f"{why}, and without names or order this cannot be checked later: pass --pairing "
            "trusted if they are mates"
        )
    file.notes.append(why)
