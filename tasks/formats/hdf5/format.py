"""Format entry of NetCDF and HDF5."""

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
    catch_refusal,
)
from gangsaw.tasks.formats.contract.signatures import NETCDF3

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.sources.source import Source


def _sure(look: Look) -> Sure:
    is_own = look.start.startswith(NETCDF3) or look.is_hdf5
    return Sure.CONTENT if is_own else Sure.NO


def _open(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.formats.hdf5.source import open_netcdf
    from gangsaw.tasks.formats.hdf5.virtual import check_virtual_file

    check_virtual_file(paths[0])
    return open_netcdf(paths[0], options.group, options.variables, accept_loss=options.accept_loss)


def _open_independent_reader(paths: Paths, options: SourceOptions) -> IndependentReader | None:
    from gangsaw.tasks.formats.hdf5.independent_reader import open_netcdf_reader

    return open_netcdf_reader(paths[0], options.group, options.variables)


def _fit(source: Source) -> Fit:
    from gangsaw.tasks.formats.hdf5.export import check_netcdf_support, lost_structure
    from gangsaw.tasks.formats.netcdf.layout import describe_layout_changes
    from gangsaw.tasks.store.dataset.original_form import restore_original_form

    given = restore_original_form(source)
    if refusal := catch_refusal(lambda: check_netcdf_support(given)):
        return Fit(refusal)
    return Fit(lost=tuple(lost_structure(given)), told=tuple(describe_layout_changes(given)))


def _check(source: Source, paths: Paths, _: ExportOptions) -> None:
    from gangsaw.tasks.formats.hdf5.export import check_suffix
    from gangsaw.tasks.store.dataset.original_form import restore_original_form

    check_suffix(restore_original_form(source), Path(paths[0]))


def _export(source: Source, paths: Paths, _: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.formats.hdf5.export import export_netcdf
    from gangsaw.tasks.store.dataset.original_form import restore_original_form

    export_netcdf(
        restore_original_form(source),
        Path(paths[0]),
        overwrite=work.overwrite,
        client=work.client,
        on_progress=work.on_progress,
    )


NETCDF = Format(
    name="netcdf",
    needs=("xarray", "h5netcdf"),
    extra="gangsaw[netcdf]",
    title="NetCDF",
    about="versions 3 and 4, and any HDF5, with all groups",
    sure=_sure,
    open=_open,
    independent_reader=_open_independent_reader,
    takes=frozenset({"variables", "group"}),
    export=_export,
    suffixes=(".nc", ".nc4", ".h5", ".hdf5"),
    damaged=("fill",),
    fit=_fit,
    check=_check,
)
