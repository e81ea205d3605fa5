"""Compression of an open source or stream by a recipe, for `compress` and the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.api.arguments import check_client, check_stream
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_as_job, current_counters
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling.worker_pools import check_device
from gangsaw.tasks.formats.exporting.export import check_store_target
from gangsaw.tasks.jobs import compress as jobs
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.jobs.chunks.device import require_device
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.sizes import files_bytes
from gangsaw.tasks.jobs.steps.stages import run_stages_at_target
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.sources.open_files import closes_files
from gangsaw.tasks.sources.source import Source, Stream
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.objects.versions import Watch, WatchedSource
from gangsaw.tasks.store.state.lease import refuse_leased
from gangsaw.tasks.store.zip_target import pack_target

if TYPE_CHECKING:
    from distributed import Client


@closes_files
@count_as_job("compress", "target")
def encode(
    source: Source | Stream,
    target: str | Path,
    recipe: Recipe,
    *,
    device: str = "cpu",
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    is_part: bool = False,
) -> Summary:
    """Compress an open source with a recipe; see `compress`. `watch` began before it was opened.

    With `is_part` the files hold more than is read, so that no ratio of files is given.
    """
    check_store_target(target)
    recipe.check()
    if isinstance(source, Stream):
        if resume:  # else the message might suggest to overwrite the target of a running job
            refuse_leased(open_prefix(target, writable=True))
        check_stream(source, recipe.options, resume)
    n_bytes = 0 if is_part or dry_run.is_on() else files_bytes(source)
    if (counters := current_counters()) is not None:
        counters.source_bytes = n_bytes
    with pack_target(target, overwrite=overwrite, resume=resume) as folder:
        summary = _encode(
            source,
            folder,
            recipe,
            device=device,
            client=client,
            resume=resume,
            overwrite=overwrite or folder != str(target),
            on_progress=on_progress,
            watch=watch,
        )
    summary = replace(summary, source_bytes=n_bytes)
    return replace(summary, store=str(target)) if folder != str(target) else summary


def _encode(
    source: Source | Stream,
    target: str | Path,
    recipe: Recipe,
    *,
    device: str,
    client: Client | None,
    resume: bool,
    overwrite: bool,
    on_progress: OnProgress | None,
    watch: Watch | None,
) -> Summary:
    with run_stages_at_target(
        source, target, client=client, resume=resume, overwrite=overwrite, on_progress=on_progress
    ) as ready:
        if isinstance(ready, Stream):
            summary = spool(
                ready,
                target,
                choose=recipe.codecs,
                chunks=recipe.chunks,
                client=client,
                options=options_for(device, client),
                resume=resume,
                overwrite=overwrite,
                on_progress=on_progress,
            )
            return replace(summary, notes=(*summary.notes, *getattr(ready, "notes", ())))
        return jobs.compress(
            WatchedSource(ready, watch) if watch is not None and ready is source else ready,
            target,
            codec=recipe.codecs(ready, client),
            chunks=recipe.chunks,
            client=client,
            options=options_for(device, client),
            resume=resume,
            overwrite=overwrite,
            on_progress=on_progress,
        )


def options_for(device: str, client: Client | None) -> Options:
    """Return the job options for a device; without a client this process must have it."""
    check_client(client)
    if client is None:
        require_device(device)
    return Options(device=check_device(device))
