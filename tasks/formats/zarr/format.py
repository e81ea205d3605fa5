"""Format entry of Zarr arrays and groups, versions 2 and 3, in a folder, ZIP file or address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.tasks.formats.contract.format import (
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
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.sources.source import Source

METADATA = ("zarr.json", ".zgroup", ".zarray")


def _sure(look: Look) -> Sure:
    from gangsaw.tasks.store.objects.zipped import SIGNATURE, is_zipped_store

    if look.start.startswith(SIGNATURE):
        return Sure.CONTENT if is_zipped_store(look.path) else Sure.NO
    if not (look.is_folder or look.is_address):
        return Sure.NO
    is_known = look.is_folder and any((Path(look.path) / name).is_file() for name in METADATA)
    return Sure.CONTENT if is_known else Sure.PERHAPS


def _open(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.store.source import open_zarr

    return open_zarr(paths[0], options.group, options.variables, accept_loss=options.accept_loss)


def _open_independent_reader(paths: Paths, options: SourceOptions) -> IndependentReader | None:
    from gangsaw.tasks.formats.zarr.independent_reader import open_zarr_reader

    return open_zarr_reader(paths[0], options.group, options.variables)


def _export(source: Source, paths: Paths, _: ExportOptions, work: Work) -> None:
    """Write uncompressed samples to a Zarr store, chunk by chunk, by the job `work.store`."""
    from gangsaw.tasks.formats.zarr.item_types import restore_zarr_types
    from gangsaw.tasks.store.zip_target import pack_target

    assert work.store is not None, "whoever exports to Zarr gives the job"
    with pack_target(paths[0], overwrite=work.overwrite, resume=work.resume) as target:
        work.store(
            restore_zarr_types(source),
            target,
            overwrite=work.overwrite or target != paths[0],
            resume=work.resume,
            client=work.client,
            on_progress=work.on_progress,
        )


def _fit(source: Source) -> Fit:
    from gangsaw.tasks.formats.zarr.item_types import describe_type_changes

    return Fit(told=describe_type_changes(source))


ZARR = Format(
    name="zarr",
    title="Zarr",
    about="arrays and trees of groups of versions 2 and 3, in a folder or a ZIP file, xradio's too",
    sure=_sure,
    open=_open,
    independent_reader=_open_independent_reader,
    takes=frozenset({"variables", "group"}),
    export=_export,
    damaged=("fill",),
    fit=_fit,
    suffixes=(".zarr", ".zip"),
    resumes=True,
)
