"""Stages that transform a source before it is encoded: each is a separate job with a journal.

The result of a stage is a store. `compress` puts it into a hidden folder next to the target until
the target is complete, so that `resume` finds it. `verify` runs the stages in a temporary folder
and compares the target with their results. A `JobStage` stores its own files in such a folder.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zarr.codecs import ZstdCodec

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.runs.plan import plan_of_stages
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.sources.source import JobStage, Source, Stage, StageResources, Stream
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.objects.versions import Watch
from gangsaw.tasks.store.source import open_zarr
from gangsaw.tasks.store.state.lease import hold_lease, is_free

if TYPE_CHECKING:
    from distributed import Client

LEVEL = 1  # of Zstandard: the result of a stage is read once


@contextmanager
def run_stages(
    source: Source | Stream,
    folder_of: Callable[[str], Path],
    *,
    client: Client | None = None,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Iterator[Source | Stream]:
    """Run the stages of a source, such as sorting, and yield the result; or yield the source.

    Parameters
    ----------
    source : source that the user named
    folder_of : function that returns the folder of a stage by its name
    client : Dask client; None works in this process
    resume : continue interrupted stages; streams start again
    on_progress : called by stages of kind `JobStage`

    Raises
    ------
    BadParams, JobFailed : as `compress` and `spool`
    """
    made: list[Path] = []
    stages: tuple[Stage | JobStage, ...] = getattr(source, "stages", ())
    # a later run cannot continue after a partly read pipe
    is_over = any(isinstance(stage, JobStage) for stage in stages) and _comes_once(source)
    watch = Watch.of_sources(source) if stages else None
    try:
        with nullcontext() if watch is None else watch.check_at_end(lambda: _remove_all(made)):
            for stage in stages:
                made.append(folder_of(stage.name))
                source = _run_stage(
                    stage, source, StageResources(made[-1], client, resume, on_progress)
                )
        yield source
        is_over = True
    finally:
        _remove_all(made if is_over else ())


def _comes_once(source: Source | Stream) -> bool:
    return isinstance(source, Stream) and not getattr(source, "is_repeatable", False)


def _run_stage(
    stage: Stage | JobStage, source: Source | Stream, resources: StageResources
) -> Source | Stream:
    """Run a stage; return its result, which is stored in the folder of `resources`."""
    if isinstance(stage, Stage):
        return _store_result(
            stage.run(source), resources.folder, resources.client, resources.resume
        )
    if not resources.resume:
        _remove(resources.folder)
    return stage.run(source, resources)


@contextmanager
def run_stages_at_target(
    source: Source | Stream,
    target: str | Path,
    *,
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> Iterator[Source | Stream]:
    """Run the stages of a source in folders next to the target; yield the same as `run_stages`.

    The target must be free or replaceable. A source may name another folder as `scratch`.
    """
    stages: tuple[Stage | JobStage, ...] = getattr(source, "stages", ())
    if not stages:
        yield source
        return
    place = open_prefix(target, writable=True)
    scratch = scratch_of(source)
    if place.folder is None and scratch is None:
        raise BadParams(
            f"{source.name} goes through stages, which need a folder: name one by --scratch, or as "
            "the target"
        )
    prefix = _stage_prefix(place, scratch)

    def folder_of(name: str) -> Path:
        return prefix.with_name(f"{prefix.name}.gangsaw-stage-{name}")

    with hold_lease(place, shared=True):
        if not (is_free(place) or resume or overwrite):
            raise BadParams(f"{place} exists: give another name, or --overwrite to replace it")
        dry_run.stop(lambda: plan_of_stages(source, target, [stage.name for stage in stages]))
        with run_stages(
            source, folder_of, client=client, resume=resume, on_progress=on_progress
        ) as ready:
            yield ready


def scratch_of(source: Source | Stream) -> Path | None:
    """Return the scratch folder that the user named; raise BadParams if it is no folder."""
    named = str(getattr(source, "scratch", ""))
    if named and not Path(named).is_dir():
        raise BadParams(f"--scratch {named}: no such folder")
    return Path(named).absolute() if named else None


def _stage_prefix(place: Prefix, scratch: Path | None) -> Path:
    """Return the path of stage folders without the stage name, next to the target or in `scratch`.

    In a scratch folder it contains a hash of the target.
    """
    if scratch is None:
        assert place.folder is not None
        return place.folder.with_name(f".{place.folder.name}")
    name = str(place).rstrip("/").rpartition("/")[2]
    return scratch / f".{name}.{hashlib.sha256(str(place).encode()).hexdigest()[:12]}"


def _remove_all(folders: Iterable[Path]) -> None:
    for folder in folders:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Rename a folder, then remove it, so that nobody takes a half-removed folder for a store."""
    if folder.exists():
        gone = folder.with_name(f"{folder.name}-removed")
        shutil.rmtree(gone, ignore_errors=True)
        folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _store_result(
    made: Source | Stream, folder: Path, client: Client | None, resume: bool
) -> Source:
    """Store the result of a stage; return the store under the name of the user's source."""
    codec, overwrite = ZstdCodec(level=LEVEL), folder.exists() and not resume
    if isinstance(made, Stream):
        spool(made, folder, choose=lambda _: codec, client=client, overwrite=folder.exists())
    else:
        compress(made, folder, codec=codec, client=client, resume=resume, overwrite=overwrite)
    return replace(open_zarr(str(folder)), name=made.name)
