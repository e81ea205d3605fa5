"""The first step: the input is read once, in its order, into parts of about equal size.

A run that was killed reads the files again, if they can be read again. Parts that are journalled
are compared with what is read now, so a file that was mended behind them goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.engine.failure import ChunkFailed, naming
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.jobs.parts import Parts
from gangsaw.tasks.reads.files.input import ReadInput
from gangsaw.tasks.reads.files.kernels import LINES, QUALITY
from gangsaw.tasks.reads.files.records import OWNER, Mates, ReadFile
from gangsaw.tasks.reads.order.groups import (
    PER_RECORD,
    packed,
    sealed,
    sizes_of,
    unpacked,
)
from gangsaw.tasks.sequences.files.measured import share_read
from gangsaw.tasks.store.state.records import Records

FACTS = "facts.json"
AT_ONCE = 2  # parts that are compressed and written while others are read


@dataclass(frozen=True)
class FileFacts:
    """What is known of a file when all was read, as `ReadFile` has it; and the file's stamp."""

    has_returns: bool
    ends_open: bool
    tail: str
    width: int
    lost: tuple[str, ...]
    stamp: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, file: ReadFile) -> FileFacts:
        """Return those of a file that was read to its end."""
        tail = file.tail.decode("ascii")
        lost = (*file.lost, *file.lost_by_order())
        stamp = stamp_of(file.path)
        own = (file.has_returns, file.ends_open, tail, file.width, lost)
        return cls(*own, stamp, tuple(file.notes))

    def tell(self, file: ReadFile) -> None:
        """Let a file that is not read know it."""
        file.has_returns, file.ends_open = self.has_returns, self.ends_open
        file.tail, file.width = self.tail.encode("ascii"), self.width
        file.lost, file.notes = tuple(self.lost), list(self.notes)


@dataclass(frozen=True)
class Facts:
    """What is known of the input when all was read.

    Attributes
    ----------
    files : one by one
    n_parts : objects of the step
    groups : pairs, or single records
    digest : sum modulo 2^64 of the hashes of all lines of each group
    """

    files: tuple[FileFacts, ...]
    n_parts: int
    groups: int
    digest: int

    def to_json(self) -> bytes:
        """Return canonical JSON."""
        return json.dumps(asdict(self), sort_keys=True).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Facts:
        """Read what `to_json` wrote."""
        fields = json.loads(data)
        return cls(**{**fields, "files": tuple(FileFacts(**one) for one in fields["files"])})


def stamp_of(path: str) -> str:
    """Return size and time of change of a file, "" of a pipe."""
    if not Path(path).is_file():
        return ""
    found = Path(path).stat()
    return f"{found.st_size} {found.st_mtime_ns}"


def facts_of(parts: Parts) -> Facts | None:
    """Return what a complete intake knows; None where it is not complete."""
    found = None if parts.manifest() is None else parts.place.get(FACTS)
    return None if found is None else Facts.from_json(found.to_bytes())


def needed(source: ReadInput, files: list[ReadFile]) -> Iterator[Mates]:
    """Yield the groups of files, which are read once, without what will not be stored."""
    for mates in source.groups(files):
        if source.settings.qualities == "none":
            for records in mates:
                records.ends[:, QUALITY] = records.begins[:, QUALITY]
        yield mates


def measured(
    groups: Iterable[Mates], source: ReadInput, on_progress: OnProgress | None
) -> Iterator[Mates]:
    """Yield groups, and tell how much of the files was read for each, as the step "intake"."""
    meter = Meter(0, on_progress, step="intake")
    for mates in groups:
        yield mates
        n_bytes = sum(records.text.size for records in mates)
        share = share_read(source.paths) if source.is_repeatable else None
        meter.add(1, n_bytes, 0, share=share)


def take_in(
    groups: Iterator[Mates], files: Sequence[ReadFile], parts: Parts, part_bytes: int
) -> Facts:
    """Store all groups of records of files that are being read, and journal them part by part.

    Raises
    ------
    BadParams : what is no record, or differs from what an earlier run stored
    JobFailed : a part cannot be stored
    """
    parts.place.clean()
    made: list[Future[Records]] = []
    n, digest = 0, 0
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="gangsaw-intake") as pool:
        for pieces in cut_in_parts(groups, part_bytes):
            batch = _packed(pieces, n, files)
            found = unpacked([batch])
            n, digest = n + len(found), (digest + found.digest()) % (1 << 64)
            if len(made) >= AT_ONCE:
                made[-AT_ONCE].result()
            made.append(pool.submit(_stored, parts, len(made), batch))
    entries = [future.result() for future in made]
    facts = Facts(tuple(map(FileFacts.of, files)), len(entries), n, digest)
    parts.place.put(FACTS, facts.to_json())
    parts.place.flush([FACTS])
    parts.finish(entries)
    return facts


def _stored(parts: Parts, number: int, batch: npt.NDArray[np.uint8]) -> Records:
    """Store a part, unless it is journalled; BadParams where what is journalled differs."""
    known = parts.journal.read(range(number, number + 1))
    made = sealed([batch])
    if known is None:
        try:
            with naming(str(parts.path(number))):
                records = parts.put(number, made)
                parts.note([records])
        except ChunkFailed as error:
            raise JobFailed(str(error)) from error
        return records
    if tuple(known.rows[0]) != (len(made[0]), crc32c(made[0])):
        raise BadParams(
            f"{parts.folder}: part {number} differs from the source, which has changed since: "
            "start again with --overwrite"
        )
    return known


def cut_in_parts(groups: Iterable[Mates], part_bytes: int) -> Iterator[list[Mates]]:
    """Yield the groups of each part in pieces; where parts end depends on the groups alone."""
    waiting: list[Mates] = []
    size = 0
    for mates in groups:
        if not len(mates[0]):
            continue
        weights = sizes_of(mates)[1] + PER_RECORD * len(mates)
        ends, first = size + np.cumsum(weights), 0
        while ends.size and ends[-1] >= part_bytes:
            last = first + int(np.searchsorted(ends[first:], part_bytes)) + 1
            yield [*waiting, tuple(records.some(slice(first, last)) for records in mates)]
            waiting, first = [], last
            ends = ends - ends[last - 1] if last < ends.size else ends[:0]
        if first < len(mates[0]):
            waiting.append(tuple(records.some(slice(first, None)) for records in mates))
            size = int(ends[-1])
        else:
            size = 0
    if waiting:
        yield waiting


def _packed(pieces: list[Mates], first: int, files: Sequence[ReadFile]) -> npt.NDArray[np.uint8]:
    n, k = sum(len(mates[0]) for mates in pieces), len(pieces[0])
    ends = np.zeros((n, k), np.uint8)
    per_file = k // len(files)
    for i, file in enumerate(files):
        last = per_file * (first + n)
        own, _ = file.odd_ends.take(file.numbering * last)[:, OWNER], file.folds.take(last)
        if file.numbering != LINES:  # `ReadFile.lost_by_order` tells of them
            continue
        record, line = np.divmod(own - LINES * per_file * first, LINES)
        column = i * per_file + record % per_file
        np.bitwise_or.at(ends, (record // per_file, column), (1 << line).astype(np.uint8))
    none = np.zeros(n, np.int64)
    return packed(pieces, ends, none, none)
