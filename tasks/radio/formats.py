"""Formats of visibilities: columns become arrays of a store, all other contents its template.

MeasurementSet, uvh5, the HDF5 of KAT-7 and MeerKAT, and uvfits of single precision are restored
identically. Other uvfits and miriad are stored as uvh5. pyuvdata converts between MeasurementSet,
uvh5 and uvfits.
"""

from __future__ import annotations

from collections.abc import Callable
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

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.sources.source import Source

FITS = b"SIMP"
EXTRA = "gangsaw[radio]"
VARIABLES = frozenset({"variables"})


def _sure_ms(look: Look) -> Sure:
    if not look.is_folder:
        return Sure.NO
    from gangsaw.tasks.radio.measurement_sets.measurement_set import is_measurement_set

    return Sure.CONTENT if is_measurement_set(Path(look.path)) else Sure.NO


def _sure_miriad(look: Look) -> Sure:
    if not look.is_folder:
        return Sure.NO
    from gangsaw.tasks.radio.uvdata.uvdata import is_miriad

    return Sure.CONTENT if is_miriad(Path(look.path)) else Sure.NO


def _sure_uvfits(look: Look) -> Sure:
    return Sure.CONTENT if look.start.startswith(FITS) else Sure.NO


def _sure_hdf5(kind: str) -> Callable[[Look], Sure]:
    def sure(look: Look) -> Sure:
        if not look.is_hdf5:
            return Sure.NO
        from gangsaw.tasks.radio.hdf5.hdf5 import detect_layout

        return Sure.EXACTLY if detect_layout(look.path) == kind else Sure.NO

    return sure


def _open_ms(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.radio.measurement_sets.measurement_set import open_measurement_set
    from gangsaw.tasks.radio.radio import VariableSelection

    taken = VariableSelection(options.variables, options.accept_loss)
    return open_measurement_set(paths[0], options.group, taken)


def _open_hdf5(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.radio.hdf5.hdf5 import open_radio_hdf5
    from gangsaw.tasks.radio.radio import VariableSelection

    return open_radio_hdf5(paths[0], VariableSelection(options.variables, options.accept_loss))


def _open_uvfits(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.radio.radio import VariableSelection
    from gangsaw.tasks.radio.uvdata.uvdata import open_uvfits

    return open_uvfits(paths[0], VariableSelection(options.variables, options.accept_loss))


def _open_miriad(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.radio.radio import VariableSelection
    from gangsaw.tasks.radio.uvdata.uvdata import open_miriad

    return open_miriad(paths[0], VariableSelection(options.variables, options.accept_loss))


def _open_ms_reader(paths: Paths, options: SourceOptions) -> IndependentReader:
    from gangsaw.tasks.radio.independent_readers.casacore_tables import open_ms_reader

    return open_ms_reader(paths[0], options.group, options.variables)


def _open_uvh5_reader(paths: Paths, options: SourceOptions) -> IndependentReader:
    from gangsaw.tasks.radio.independent_readers.h5py_files import open_uvh5_reader

    return open_uvh5_reader(paths[0], options.variables)


def _open_kat_reader(paths: Paths, options: SourceOptions) -> IndependentReader:
    from gangsaw.tasks.radio.independent_readers.h5py_files import open_kat_reader

    return open_kat_reader(paths[0], options.variables)


def _open_uvfits_reader(paths: Paths, options: SourceOptions) -> IndependentReader | None:
    from gangsaw.tasks.radio.independent_readers.fits_groups import open_uvfits_reader

    return open_uvfits_reader(paths[0], options.variables)


def _open_miriad_reader(paths: Paths, options: SourceOptions) -> IndependentReader | None:
    from gangsaw.tasks.radio.independent_readers.uvdata_arrays import open_uvdata_reader

    return open_uvdata_reader(paths[0], "miriad", options.variables)


def _fit(kind: str) -> Callable[[Source], Fit]:
    def fit(source: Source) -> Fit:
        from gangsaw.tasks.radio.export.export import check_template_kind
        from gangsaw.tasks.radio.radio import find_template

        template = find_template(source)
        is_own = template is not None and kind in (template.format, "hdf5")
        refusal = catch_refusal(lambda: check_template_kind(source, kind))
        if refusal or is_own or template is None:
            return Fit(refusal, is_own=is_own)
        from gangsaw.tasks.radio.export.losses import list_losses

        return Fit(lost=tuple(list_losses(source, template, kind)))

    return fit


def _export(kind: str) -> Callable[[Source, Paths, ExportOptions, Work], None]:
    def export(source: Source, paths: Paths, _: ExportOptions, work: Work) -> None:
        from gangsaw.tasks.radio.export.export import check_whole, export_radio

        check_whole(source, work.damage)
        path = Path(paths[0])
        export_radio(source, path, kind, overwrite=work.overwrite, on_progress=work.on_progress)

    return export


MS = Format(
    name="ms",
    title="MeasurementSet",
    about="every column; each data description is a group, `--group` selects one",
    sure=_sure_ms,
    open=_open_ms,
    independent_reader=_open_ms_reader,
    takes=VARIABLES | {"group"},
    export=_export("ms"),
    damaged=("fill",),
    suffixes=(".ms",),
    fit=_fit("ms"),
    needs=("casacore",),
    extra=EXTRA,
)
UVH5 = Format(
    name="uvh5",
    needs=("h5py",),
    extra="gangsaw[netcdf]",
    title="uvh5",
    about="visibilities of pyuvdata",
    sure=_sure_hdf5("uvh5"),
    open=_open_hdf5,
    independent_reader=_open_uvh5_reader,
    takes=VARIABLES,
    export=_export("uvh5"),
    damaged=("fill",),
    suffixes=(".uvh5",),
    fit=_fit("uvh5"),
)
KAT = Format(
    name="hdf5",
    needs=("h5py",),
    extra="gangsaw[netcdf]",
    title="HDF5 of correlators",
    about="KAT-7 and MeerKAT, versions 2 and 3",
    sure=_sure_hdf5("hdf5"),
    open=_open_hdf5,
    independent_reader=_open_kat_reader,
    takes=VARIABLES,
    export=_export("hdf5"),
    damaged=("fill",),
    suffixes=(".h5", ".hdf5"),
    fit=_fit("hdf5"),
)
UVFITS = Format(
    name="uvfits",
    title="uvfits",
    about="random groups of FITS",
    sure=_sure_uvfits,
    open=_open_uvfits,
    independent_reader=_open_uvfits_reader,
    takes=VARIABLES,
    export=_export("uvfits"),
    damaged=("fill",),
    suffixes=(".uvfits",),
    fit=_fit("uvfits"),
    needs=("pyuvdata", "astropy"),
    extra=EXTRA,
)
MIRIAD = Format(
    name="miriad",
    title="miriad",
    about="a folder, held in memory",
    sure=_sure_miriad,
    open=_open_miriad,
    independent_reader=_open_miriad_reader,
    takes=VARIABLES,
    needs=("pyuvdata",),
    extra=EXTRA,
)
