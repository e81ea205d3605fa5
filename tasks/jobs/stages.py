"""Stages of a source before it is encoded: each is a separate job with a journal. The result of a
stage is a store. `compress` puts it into a hidden folder next to the target until the target is
complete, so that `resume` finds it. `verify` compares the target with the results of the stages, in
a temporary folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zarr.codecs import ZstdCodec

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.spool import spool
from gangsaw.tasks.source import Source, Stage, Stream
from gangsaw.tasks.store.place import open_place
from gangsaw.tasks.store.source import open_zarr

if TYPE_CHECKING:
    from distributed import Client

LEVEL = 1  # of Zstandard: the result of a stage is read once


@contextmanager
def staged(
    source: Source | Stream,
    folder_of: Callable[[str], Path],
    *,
    client: Client | None = None,
    resume: bool = False,
) -> Iterator[Source | Stream]:
    """Yield the result of a source's stages, or the source itself where it has none.

    Parameters
    ----------
    source : what the user named
    folder_of : returns the folder for the store of a stage, by its name
    client : Dask client; None works in this process
    resume : continue the stages that an earlier run began; streams start again

    Raises
    ------
    BadParams, JobFailed : as `compress` and `spool`
    """
    made: list[Path] = []
    stages: tuple[Stage, ...] = getattr(source, "stages", ())
    for stage in stages:
        made.append(folder_of(stage.name))
        source = _stored(stage.run(source), made[-1], client, resume)
    yield source
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def staged_at_target(
    source: Source | Stream,
    target: str | Path,
    *,
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> Iterator[Source | Stream]:
    """Do the same in folders next to a target, which must be free or replaceable."""
    if not getattr(source, "stages", ()):
        yield source
        return
    place = open_place(target, writable=True)
    folder = place.folder
    if folder is None:
        raise BadParams(f"{source.name} goes through stages, which need a folder as the target")
    if not (place.is_empty or resume or overwrite):
        raise BadParams(f"{place} exists: give another name, or --overwrite to replace it")

    def folder_of(name: str) -> Path:
        return folder.with_name(f".{folder.name}.gangsaw-stage-{name}")

    with staged(source, folder_of, client=client, resume=resume) as ready:
        yield ready


def _stored(made: Source | Stream, folder: Path, client: Client | None, resume: bool) -> Source:
    """Store the result of a stage, and return it under the name that the user knows."""
    codec, overwrite = ZstdCodec(level=LEVEL), folder.exists() and not resume
    if isinstance(made, Stream):
        spool(made, folder, choose=lambda _: codec, overwrite=folder.exists())
    else:
        compress(made, folder, codec=codec, client=client, resume=resume, overwrite=overwrite)
    return replace(open_zarr(str(folder)), name=made.name)
