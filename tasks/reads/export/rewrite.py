"""Records of a stream as FASTQ files, in the order that the stream gives them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.progress import OnProgress
from gangsaw.tasks.engine.rehearsal import JobPlan
from gangsaw.tasks.formats.format import Paths, Work
from gangsaw.tasks.jobs.stages import staged
from gangsaw.tasks.reads.files.kernels import LINES
from gangsaw.tasks.reads.files.records import FastqRecords, Mates
from gangsaw.tasks.reads.files.settings import Settings
from gangsaw.tasks.reads.stored.record_text import joined
from gangsaw.tasks.reads.stream.stream import ReadStream
from gangsaw.tasks.sequences.files.targets import check_targets, open_targets
from gangsaw.tasks.sequences.files.text import STDIN as STDOUT
from gangsaw.tasks.sequences.files.text import Text


def rewrite(
    sources: Paths,
    targets: Paths,
    settings: Settings,
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> int:
    """Write the reads of FASTQ files into others, in another order; return how many there are.

    Lines end with LF. Mates stay together; in one target they alternate.

    Raises
    ------
    BadParams : a source is no FASTQ, a target exists, two are named for reads without mates
    """
    stream = ReadStream(sources, settings)
    if len(targets) == 2 and not stream.is_paired:
        raise BadParams(f"{stream.name} holds no pairs: name one target")
    read, written = (
        {Path(p).absolute() for p in paths if p != STDOUT} for paths in (sources, targets)
    )
    if same := read & written:
        raise BadParams(f"{min(same)} is read: give another target")
    check_targets(targets, overwrite=overwrite)
    rehearsal.stop(lambda: _plan(stream, targets))
    n = 0
    with (
        _ordered(stream, targets[0], on_progress) as ready,
        open_targets(targets, Work(overwrite)) as files,
    ):
        for mates in ready.records():
            n += sum(len(records) for records in mates)
            parts = [alternating(mates)] if len(files) == 1 else mates
            for file, records in zip(files, parts, strict=True):
                file.write(text_of(records).data)
    return n


def _plan(stream: ReadStream, targets: Paths) -> JobPlan:
    size = sum(Path(path).stat().st_size for path in stream.paths if Path(path).is_file())
    folder = _folder(targets[0])
    place = "the temporary folder" if folder is None else f"the folder {folder}"
    note = f"{stream.settings.order} through files in {place}; {size:,} bytes are read"
    return JobPlan(stream.name, targets, format="FASTQ", notes=(note,))


@contextmanager
def _ordered(
    stream: ReadStream, target: str, on_progress: OnProgress | None
) -> Iterator[ReadStream]:
    """Yield the stream behind its stages, which work in a folder beside the target."""
    with (
        TemporaryDirectory(prefix=".gangsaw-bin-", dir=_folder(target)) as folder,
        staged(stream, lambda name: Path(folder, name), on_progress=on_progress) as ready,
    ):
        assert isinstance(ready, ReadStream)
        yield ready


def _folder(target: str) -> Path | None:
    """Return the folder of a target; None of standard output."""
    return None if target == STDOUT else Path(target).absolute().parent


def alternating(mates: Mates) -> FastqRecords:
    """Return the records of mates side by side."""
    if len(mates) == 1:
        return mates[0]
    offsets = np.cumsum([0, *(records.text.size for records in mates[:-1])])
    pairs = list(zip(mates, offsets, strict=True))
    begins = np.stack([records.begins + offset for records, offset in pairs], axis=1)
    ends = np.stack([records.ends + offset for records, offset in pairs], axis=1)
    text = np.concatenate([records.text for records in mates])
    return FastqRecords(text, begins.reshape(-1, LINES), ends.reshape(-1, LINES))


def text_of(records: FastqRecords) -> Text:
    """Return records as FASTQ text, (n,) uint8."""
    fields = [records.field(line) for line in range(LINES)]
    return joined(fields, np.zeros((len(records), LINES), bool))
