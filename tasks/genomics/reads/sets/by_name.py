"""Sets of files that belong together, derived from the names that sequencers and samtools use.

Illumina's are SAMPLE_S1_L001_R1_001.fastq.gz, with R1, R2, R3, I1 or I2 (bcl2fastq2 Conversion
Software v2.20, "FASTQ files"); others end with _1 and _2, or .1 and .2, or R1 and R2.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.names import FASTA_NAMES, FASTQ_NAMES, PACKED
from gangsaw.tasks.genomics.reads.sets.file_sets import HINT, FileSet

ENDS = tuple(sorted({*FASTA_NAMES, *FASTQ_NAMES, *PACKED}))
# MATE: mark after a separator, at the end or before the file number of Illumina's tools
UNCLEAR = ("3", "4")  # index reads of SRA, or a third sample
MATE = re.compile(r"[._-](?:([RI]?[1-4])((?:_\d{3})?))$", re.IGNORECASE)


def sets_by_name(paths: Sequence[str], *, interleaved: bool = False) -> tuple[FileSet, ...]:
    """Group files into sets whose records are mates, by their names.

    Two files are one set, unless they are the same mate of two lanes or samples. Raises BadParams
    for ambiguous names, and for a mate without the other one.
    """
    if interleaved and len(paths) > 1:
        raise BadParams(f"{', '.join(paths)}: mates alternate in one file: {HINT}")
    if len(paths) == 1:
        return (FileSet((0,), interleaved),)
    marks = [_mark(path) for path in paths]
    if len(paths) == 2 and not _are_lanes(*marks):
        return (FileSet((0, 1)),)
    _refuse_doubles(paths)
    found: dict[str, list[int]] = defaultdict(list)
    for i, (rest, mate) in enumerate(marks):
        found[rest if mate else f"{i}"].append(i)
    _check(found, marks, paths)
    return tuple(FileSet(tuple(files)) for files in found.values())


def _mark(path: str) -> tuple[str, str]:
    """Return a file name without the mark of a mate, and the mark, such as "R1"; "" without one."""
    name = Path(path).name
    while name.lower().endswith(ENDS):
        name = name[: name.rindex(".")]
    found = MATE.search(name)
    if found is None:
        return name, ""
    return f"{Path(path).parent / name[: found.start()]} {found[2]}", found[1].upper()


def _are_lanes(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return True if two file names, split by `_mark`, are one mate of two lanes or samples."""
    return one[1] == other[1] != "" and one[0] != other[0]


def _refuse_doubles(paths: Sequence[str]) -> None:
    twice = [path for path, n in Counter(paths).items() if n > 1]
    if twice:
        raise BadParams(f"{twice[0]} is named twice")


def _check(
    found: dict[str, list[int]], marks: Sequence[tuple[str, str]], paths: Sequence[str]
) -> None:
    """Raise BadParams if file names do not identify the mates."""
    usual = Counter(
        frozenset(marks[i][1] for i in files) for files in found.values() if marks[files[0]][1]
    )
    if not usual:
        raise BadParams(f"{', '.join(paths)}: their names do not show which are mates: {HINT}")
    mates, _ = usual.most_common(1)[0]
    for files in found.values():
        own = [marks[i][1] for i in files]
        which = paths[files[0]]
        if max(own) in UNCLEAR:
            raise BadParams(f"{paths[files[-1]]}: its name does not show which mate it is: {HINT}")
        if own == [""] or (len(set(own)) == len(own) and frozenset(own) == mates):
            continue
        if len(set(own)) < len(own):
            raise BadParams(f"{which} and others are called {own[0]} of the same reads: {HINT}")
        lacking = ", ".join(sorted(mates ^ frozenset(own)))
        raise BadParams(f"{which} is {', '.join(own)} of its reads, others have {lacking}: {HINT}")
