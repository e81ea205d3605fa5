"""Writer of a stream's records as FASTQ files, in the order of the stream."""

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
from gangsaw.tasks.compressed_text.targets import check_targets, open_targets
from gangsaw.tasks.compressed_text.text import STDIN as STDOUT
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.formats.contract.format import Paths, Work
from gangsaw.tasks.formats.contract.pipes import is_stream
from gangsaw.tasks.genomics.reads.files.kernels import LINES
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Mates
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.sets.file_sets import FileSet
from gangsaw.tasks.genomics.reads.stored.record_text import join_fastq
from gangsaw.tasks.genomics.reads.stream.stream import ReadStream
from gangsaw.tasks.jobs.steps.stages import run_stages, scratch_of
from gangsaw.tasks.store.objects.files import is_same_file
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.lease import hold_lease

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
    """Write the reads of FASTQ files to other files, in another order; return their number.

    Lines end with LF. Mates stay together; in one target they alternate. Intermediate files are in
    the folder `scratch`, or next to the target. `resume` continues with the files of an earlier
    run.

    Raises
    ------
    BadParams : a source is not FASTQ, a target exists, or two targets are named for reads without
        mates
    """
    chosen = (FileSet(tuple(range(len(sources))), settings.interleaved),)
    stream = ReadStream(sources, settings, scratch=scratch, chosen=chosen)
    if len(targets) == 2 and not stream.is_paired:
        raise BadParams(f"{stream.name} holds no pairs: name one target")
    read, written = ([Path(p) for p in paths if p != STDOUT] for paths in (sources, targets))
    if same := [one for one in read if any(is_same_file(one, target) for target in written)]:
        raise BadParams(f"{min(same).absolute()} is read: give another target")
    check_targets(targets, overwrite=overwrite)
    dry_run.stop(lambda: _plan(stream, targets))
    n = 0
    with (
        _rooms(stream, targets[0], resume) as folder_of,
        run_stages(
            stream, folder_of, client=client, resume=resume, on_progress=on_progress
        ) as ready,
        open_targets(targets, Work(overwrite)) as files,
    ):
        assert isinstance(ready, ReadStream)
        for mates in ready.records():
            n += sum(len(records) for records in mates)
            parts = [alternating(mates)] if len(files) == 1 else mates
            for file, records in zip(files, parts, strict=True):
                file.write(format_fastq(records).data)
    return n


def _plan(stream: ReadStream, targets: Paths) -> JobPlan:
    size = sum(Path(path).stat().st_size for path in stream.paths if Path(path).is_file())
    folder = _folder(stream, targets[0])
    place = "the temporary folder" if folder is None else f"the folder {folder}"
    note = f"{stream.settings.order} through files in {place}; {size:,} bytes are read"
    return JobPlan(stream.name, targets, format="FASTQ", notes=(note,))


@contextmanager
def _rooms(stream: ReadStream, target: str, resume: bool) -> Iterator[Callable[[str], Path]]:
    """Yield a function that returns the scratch folder of an ordering stage.

    A later run can resume it, except for standard output or pipes without a folder that the user
    named.
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

    with hold_lease(Prefix(LocalStore(beside if target == STDOUT else Path(own))), shared=True):
        yield folder_of


def _folder(stream: ReadStream, target: str) -> Path | None:
    """Return the scratch folder; None for pipes and standard output if the user named none."""
    if (scratch := scratch_of(stream)) is not None:
        return scratch
    return None if is_stream(target) else Path(target).absolute().parent


def alternating(mates: Mates) -> FastqRecords:
    """Return the records of all mates in one batch, mates in alternation."""
    if len(mates) == 1:
        return mates[0]
    offsets = np.cumsum([0, *(records.text.size for records in mates[:-1])])
    pairs = list(zip(mates, offsets, strict=True))
    begins = np.stack([records.begins + offset for records, offset in pairs], axis=1)
    ends = np.stack([records.ends + offset for records, offset in pairs], axis=1)
    text = np.concatenate([records.text for records in mates])
    return FastqRecords(text, begins.reshape(-1, LINES), ends.reshape(-1, LINES))


def format_fastq(records: FastqRecords) -> Text:
    """Return records as FASTQ text: (n,) uint8."""
    fields = [records.field(line) for line in range(LINES)]
    return join_fastq(fields, np.zeros((len(records), LINES), bool))
