"""Zarr arrays and groups of either version, in a folder or at an address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.formats.format import (
    ExportOptions,
    Fit,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
)

if TYPE_CHECKING:
    from gangsaw.tasks.source import Source

METADATA = ("zarr.json", ".zgroup", ".zarray")


def _sure(look: Look) -> Sure:
    if not (look.is_folder or look.is_address):
        return Sure.NO
    is_known = look.is_folder and any((Path(look.path) / name).is_file() for name in METADATA)
    return Sure.CONTENT if is_known else Sure.PERHAPS


def _open(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.store.source import open_zarr

    return open_zarr(paths[0], options.group, options.variables, accept_loss=options.accept_loss)


def _export(source: Source, paths: Paths, _: ExportOptions, work: Work) -> None:
    """Give the store to the job that writes it: plain samples, chunk by chunk, with a journal."""
    from gangsaw.tasks.formats.zarr_kinds import as_zarr

    assert work.store is not None, "whoever exports to Zarr gives the job"
    work.store(
        as_zarr(source),
        paths[0],
        overwrite=work.overwrite,
        resume=work.resume,
        client=work.client,
        on_progress=work.on_progress,
    )


def _fit(source: Source) -> Fit:
    from gangsaw.tasks.formats.zarr_kinds import told

    return Fit(lost=told(source))


ZARR = Format(
    name="zarr",
    title="Zarr",
    about="arrays and trees of groups of versions 2 and 3, those of xradio and dask-ms among them",
    sure=_sure,
    open=_open,
    takes=frozenset({"variables", "group"}),
    export=_export,
    fit=_fit,
    suffixes=(".zarr",),
    resumes=True,
)
