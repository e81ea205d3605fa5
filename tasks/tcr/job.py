"""Count the paths of whole repertoires into a Zarr store: a phase that reads, one that counts."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr.abc.store import Store
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.chunks import METADATA
from gangsaw.tasks.compress import RESUME
from gangsaw.tasks.device import COPIES, batches_per_task
from gangsaw.tasks.engine import Options, Task, run
from gangsaw.tasks.exports.atomic import check_target, whole_files
from gangsaw.tasks.journal import Job, Journal
from gangsaw.tasks.manifest import fold, write_manifest
from gangsaw.tasks.place import Place, open_place
from gangsaw.tasks.progress import Meter, OnProgress
from gangsaw.tasks.records import Records
from gangsaw.tasks.sources.flat import file_identity
from gangsaw.tasks.target import Target, choose_target, write_skeleton
from gangsaw.tasks.tcr.counting import Chunk, CountChunk
from gangsaw.tasks.tcr.dropped import write_dropped
from gangsaw.tasks.tcr.inputs import Input
from gangsaw.tasks.tcr.reading import READ_BYTES, ReadRepertoire
from gangsaw.tasks.tcr.setup import Setup
from gangsaw.tasks.tcr.staging import FileRows, Staging, parts_of
from gangsaw.tasks.tcr.store import FIRST, Contents, Summary, summary_of

if TYPE_CHECKING:
    from distributed import Client


def count(
    inputs: Sequence[Input],
    target: str | Path | Store,
    setup: Setup,
    *,
    table: Path | None = None,
    client: Client | None = None,
    options: Options | None = None,
    resume: bool = False,
    overwrite: bool = False,
    keep_going: bool = False,
    durable: bool = True,
    on_read: OnProgress | None = None,
    on_count: OnProgress | None = None,
) -> Summary:
    """Read repertoires, count the paths of each kept row, write all into a Zarr v3 group.

    Rows keep their order: that of the files, and of the lines in each. Until all is counted the
    group has no metadata at its root, so that nobody takes it for a whole one.

    Parameters
    ----------
    inputs : see `open_inputs`
    target : path, address or Zarr store
    setup : what is counted and how
    table : file for the dropped rows; None is beside the store
    client : Dask client; None works in this thread
    options : device, resources, retries
    resume : finish what an earlier run with the same files and setup began
    overwrite : replace an existing store, which stays whole until the new one is
    keep_going : leave files out that cannot be read; the summary names them
    durable : sync to the disk what counts as done
    on_read : called in this thread after each file (done, total: files; raw bytes: of the files)
    on_count : called in this thread after each chunk (done, total: references)

    Raises
    ------
    BadParams
        A file cannot be read, no row was kept, or the target may not be touched.
    JobFailed
        The job stopped; what is finished is kept, and `resume` goes on from there.
    """
    started = time.monotonic()
    final = open_place(target, writable=True)
    table = table or beside(final)
    check_target(table, overwrite=overwrite or resume)
    jobs = {FIRST: _reading_job(inputs, setup)}
    place = choose_target(final, jobs, resume=resume, overwrite=overwrite)
    if resume:
        place.work.clean()
    job = _Job(inputs, setup, place, jobs[FIRST], client, options or Options(), durable)
    resumed = place.work.has(METADATA)
    if not resumed:
        write_skeleton(place, {}, jobs)
        files = job.read(keep_going, on_read)
        read = time.monotonic() - started
        with whole_files([table], overwrite=overwrite or resume) as (part,):
            write_dropped(job.staging.read_dropped(files), part)
        job.count(files, on_count)
    return job.finish()


def beside(store: Place) -> Path:
    """Return where the table of dropped rows goes unless the user says it."""
    name = Path(str(store).rstrip("/")).name
    folder = store.folder.parent if store.folder is not None else Path()
    return folder / f"{name.removesuffix('.zarr')}.dropped.tsv"
