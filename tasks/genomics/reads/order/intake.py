"""Input stage: the files are read once, in order, into parts of about equal size.

A killed run reads the files again, if possible. Journalled parts are compared with the new ones, so
a run can continue after a file was repaired beyond them.
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
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.compressed_text.measured import share_read
from gangsaw.tasks.engine.report.failure import ChunkFailed, name_failed_chunk
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.kernels import LINES, QUALITY
from gangsaw.tasks.genomics.reads.files.records import OWNER, Mates, ReadFile
from gangsaw.tasks.genomics.reads.order.groups import (
    PER_RECORD,
    compress_segments,
    measure_groups,
    pack_groups,
    unpack_groups,
)
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs
from gangsaw.tasks.store.state.records import Records
from gangsaw.tasks.store.state_fields import StateFields, naming_file, read_fields

FACTS = "facts.json"
AT_ONCE = 2  # parts that are compressed and written while others are read


@dataclass(frozen=True)
class FileFacts:
    """Attributes of a `ReadFile` that are known after it was read, and the file's change stamp."""

    has_returns: bool
    ends_open: bool
    tail: str
    width: int
    lost: tuple[str, ...]
    stamp: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, file: ReadFile) -> FileFacts:
        """Return the attributes of a file that was read to its end."""
        tail = file.tail.decode("ascii")
        lost = (*file.lost, *file.lost_by_order())
        stamp = stamp_of(file.path)
        own = (file.has_returns, file.ends_open, tail, file.width, lost)
        return cls(*own, stamp, tuple(file.notes))

    @classmethod
    def from_fields(cls, fields: StateFields) -> FileFacts:
        """Return the attributes from JSON; raise CorruptChunk for fields of other types."""
        own = (fields.flag("has_returns"), fields.flag("ends_open"), fields.text("tail"))
        if not own[2].isascii():
            raise CorruptChunk("tail is no ASCII")
        lost, notes = tuple(fields.texts("lost")), tuple(fields.texts("notes"))
        return cls(*own, fields.count("width"), lost, fields.text("stamp"), notes)

    def tell(self, file: ReadFile) -> None:
        """Set these attributes on a `ReadFile` that is not read."""
        file.has_returns, file.ends_open = self.has_returns, self.ends_open
        file.tail, file.width = self.tail.encode("ascii"), self.width
        file.lost, file.notes = tuple(self.lost), list(self.notes)


@dataclass(frozen=True)
class Facts:
    """Result of the input stage of an ordering job: what is known after all files were read.

    Attributes
    ----------
    files : attributes of each file
    n_parts : number of parts that were stored
    groups : number of pairs, or of single records
    digest : sum of the hashes of all lines of each group, modulo 2^64
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
        """Return the result from JSON of `to_json`; raise CorruptChunk for other bytes."""
        fields = read_fields(data)
        files = tuple(FileFacts.from_fields(one) for one in fields.each("files"))
        digest = fields.count("digest", (1 << 64) - 1)
        return cls(files, fields.count("n_parts"), fields.count("groups"), digest)


def stamp_of(path: str) -> str:
    """Return size and modification time of a file, "" for a pipe."""
    if not Path(path).is_file():
        return ""
    found = Path(path).stat()
    return f"{found.st_size} {found.st_mtime_ns}"


def load_facts(parts: StepOutputs, n_files: int) -> Facts | None:
    """Return the result of a complete input stage; None if it is incomplete.

    Raises
    ------
    CorruptChunk : the file of the facts has other content, or is about another number of files
    """
    found = None if parts.manifest() is None else parts.prefix.get(FACTS)
    if found is None:
        return None
    with naming_file(str(parts.folder), FACTS):
        facts = Facts.from_json(found.to_bytes())
        if len(facts.files) != n_files:
            raise CorruptChunk(f"it describes {len(facts.files)} files instead of {n_files}")
        return facts


def needed(source: ReadInput, files: list[ReadFile]) -> Iterator[Mates]:
    """Yield batches of mates, without qualities if these are not stored; files are read once."""
    for mates in source.groups(files):
        if source.settings.qualities == "none":
            for records in mates:
                records.ends[:, QUALITY] = records.begins[:, QUALITY]
        yield mates


def measured(
    groups: Iterable[Mates], source: ReadInput, on_progress: OnProgress | None
) -> Iterator[Mates]:
    """Yield batches unchanged, and report the bytes read as progress of the step "intake"."""
    meter = Meter(0, on_progress, step="intake")
    for mates in groups:
        yield mates
        n_bytes = sum(records.text.size for records in mates)
        share = share_read(source.paths) if source.is_repeatable else None
        meter.add(1, n_bytes, 0, share=share)


def take_in(
    groups: Iterator[Mates], files: Sequence[ReadFile], parts: StepOutputs, part_bytes: int
) -> Facts:
    """Store all reads of the input in compressed parts; journal each part.

    Raises
    ------
    BadParams : invalid text, or a part that differs from that of an earlier run
    JobFailed : a part cannot be stored
    """
    parts.prefix.clean()
    made: list[Future[Records]] = []
    n, digest = 0, 0
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="gangsaw-intake") as pool:
        for pieces in cut_in_parts(groups, part_bytes):
            batch = _packed(pieces, n, files)
            found = unpack_groups([batch])
            n, digest = n + len(found), (digest + found.digest()) % (1 << 64)
            if len(made) >= AT_ONCE:
                made[-AT_ONCE].result()
            made.append(pool.submit(_stored, parts, len(made), batch))
    entries = [future.result() for future in made]
    facts = Facts(tuple(map(FileFacts.of, files)), len(entries), n, digest)
    parts.prefix.put(FACTS, facts.to_json())
    parts.prefix.flush([FACTS])
    parts.finish(entries)
    return facts


def _stored(parts: StepOutputs, number: int, batch: npt.NDArray[np.uint8]) -> Records:
    """Store a part, unless an earlier run did; raise BadParams if that part differs."""
    known = parts.journal.read(range(number, number + 1))
    made = compress_segments([batch])
    if known is None:
        try:
            with name_failed_chunk(str(parts.path(number))):
                records = parts.put(number, made)
                parts.journal_records([records])
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
    """Yield the batches of each part of about `part_bytes`.

    Its borders depend on the reads alone.
    """
    waiting: list[Mates] = []
    size = 0
    for mates in groups:
        if not len(mates[0]):
            continue
        weights = measure_groups(mates)[1] + PER_RECORD * len(mates)
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
        if file.numbering != LINES:  # `ReadFile.lost_by_order` reports them
            continue
        record, line = np.divmod(own - LINES * per_file * first, LINES)
        column = i * per_file + record % per_file
        np.bitwise_or.at(ends, (record // per_file, column), (1 << line).astype(np.uint8))
    none = np.zeros(n, np.int64)
    return pack_groups(pieces, ends, none, none)
