"""Records of a stream as FASTQ files, in the order that the stream gives them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from zarr.storage import LocalStore

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.progress import OnProgress
from gangsaw.tasks.engine.rehearsal import JobPlan
from gangsaw.tasks.formats.format import Paths, Work
from gangsaw.tasks.jobs.stages import scratch_of, staged
from gangsaw.tasks.reads.files.kernels import LINES
from gangsaw.tasks.reads.files.records import FastqRecords, Mates
from gangsaw.tasks.reads.files.settings import Settings
from gangsaw.tasks.reads.sets.file_sets import FileSet
from gangsaw.tasks.reads.stored.record_text import joined
from gangsaw.tasks.reads.stream.stream import ReadStream
from gangsaw.tasks.sequences.files.targets import check_targets, open_targets
from gangsaw.tasks.sequences.files.text import STDIN as STDOUT
from gangsaw.tasks.sequences.files.text import Text
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.lease import leased_beside

if TYPE_CHECKING:
    from dask.distributed import Client


def rewrite(
    sources: Paths,
    targets: Paths,
    settings: Settings,
    *,
    scratch: str = "",
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> int:
    """Write the reads of FASTQ files into others, in another order; return how many there are.

    Lines end with LF. Mates stay together; in one target they alternate. What steps make lies in
    the folder `scratch`, or beside the target; `resume` goes on with what a run left there.

    Raises
    ------
    BadParams : a source is no FASTQ, a target exists, two are named for reads without mates
    """
    chosen = (FileSet(tuple(range(len(sources))), settings.interleaved),)
    stream = ReadStream(sources, settings, scratch=scratch, chosen=chosen)
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
        _rooms(stream, targets[0], resume) as folder_of,
        staged(stream, folder_of, client=client, resume=resume, on_progress=on_progress) as ready,
        open_targets(targets, Work(overwrite)) as files,
    ):
        assert isinstance(ready, ReadStream)
        for mates in ready.records():
            n += sum(len(records) for records in mates)
            parts = [alternating(mates)] if len(files) == 1 else mates
            for file, records in zip(files, parts, strict=True):
                file.write(text_of(records).data)
    return n


def _plan(stream: ReadStream, targets: Paths) -> JobPlan:
    size = sum(Path(path).stat().st_size for path in stream.paths if Path(path).is_file())
    folder = _folder(stream, targets[0])
    place = "the temporary folder" if folder is None else f"the folder {folder}"
    note = f"{stream.settings.order} through files in {place}; {size:,} bytes are read"
    return JobPlan(stream.name, targets, format="FASTQ", notes=(note,))


@contextmanager
def _rooms(stream: ReadStream, target: str, resume: bool) -> Iterator[Callable[[str], Path]]:
    """Yield what names the folder of a stage; what is left there by a run can be gone on with.

    Nothing is of standard output, or of a pipe, without a folder that the user named.
    """
    folder = _folder(stream, target)
    if not stream.is_repeatable or folder is None:
        if resume:
            raise BadParams(f"{stream.name} cannot be resumed: a pipe is read once, or written")
        with TemporaryDirectory(prefix=".gangsaw-bin-", dir=folder) as room:
            yield lambda name: Path(room, name)
        return
    own = str(Path(target).absolute()) if target != STDOUT else target
    key = hashlib.sha256(own.encode()).hexdigest()[:12]
    beside = folder / f".{Path(target).name}.{key}"

    def folder_of(name: str) -> Path:
        return beside.with_name(f"{beside.name}.gangsaw-stage-{name}")

    with leased_beside(Place(LocalStore(Path(own))), folder_of("lease")):
        yield folder_of


def _folder(stream: ReadStream, target: str) -> Path | None:
    """Return the folder for what stages make; None of standard output, if the user named none."""
    if (scratch := scratch_of(stream)) is not None:
        return scratch
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
