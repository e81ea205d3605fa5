"""Zarr arrays and groups of either version, in a folder or at an address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.formats.format import (
    ExportOptions,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
)

if TYPE_CHECKING:
    from gangsaw.tasks.formats.witness import Witness
    from gangsaw.tasks.source import Source

METADATA = ("zarr.json", ".zgroup", ".zarray")


def _sure(look: Look) -> Sure:
    if not (look.is_folder or look.is_address):
        return Sure.NO
    is_known = look.is_folder and any((Path(look.path) / name).is_file() for name in METADATA)
    return Sure.CONTENT if is_known else Sure.PERHAPS


def _open(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.store.source import open_zarr

    return open_zarr(paths[0], options.group, options.variables)


def _witness(paths: Paths, options: SourceOptions) -> Witness:
    from gangsaw.tasks.formats.known.witnesses.zarr_store import zarr_witness

    return zarr_witness(paths[0], options.group, options.variables)


def _export(source: Source, paths: Paths, _: ExportOptions, work: Work) -> None:
    """Give the store to the job that writes it: plain samples, chunk by chunk, with a journal."""
    assert work.store is not None, "whoever exports to Zarr gives the job"
    work.store(
        source,
        paths[0],
        overwrite=work.overwrite,
        resume=work.resume,
        client=work.client,
        on_progress=work.on_progress,
    )


ZARR = Format(
    name="zarr",
    title="Zarr",
    about="arrays and groups of versions 2 and 3, those of xradio and dask-ms among them",
    sure=_sure,
    open=_open,
    witness=_witness,
    takes=frozenset({"variables", "group"}),
    export=_export,
    suffixes=(".zarr",),
    resumes=True,
)
