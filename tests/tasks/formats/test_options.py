"""Every option against every format: what it does not take is an error, and a wrong value, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi
from helpers.small_files import envi, hdf5, kat, lone, netcdf, zarr3

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.format import (
    ExportOptions,
    SourceOptions,
    Work,
    flags,
    list_changed_options,
)
from gangsaw.tasks.formats.contract.opening import open_paths, open_source
from gangsaw.tasks.formats.contract.table import formats
from gangsaw.tasks.formats.exporting.export import export_source

USAGE = 2
GIVEN = {
    "variables": SourceOptions(variables=("nope",)),
    "group": SourceOptions(group="nope"),
}
# what formats bring
OWN = {o.name: SourceOptions(own={o.name: "?"}) for f in formats().values() for o in f.options}
EXPORTED = {
    o.name: ExportOptions(own={o.name: "?"}) for f in formats().values() for o in f.export_options
}
ALL = {**GIVEN, **OWN}


def test_every_option_is_in_the_table() -> None:
    assert {next(iter(list_changed_options(options))) for options in ALL.values()} == set(ALL)
    fields = set(SourceOptions.__dataclass_fields__) - {"format", "accept_loss", "own"}
    assert fields == set(GIVEN)
    assert set(ExportOptions.__dataclass_fields__) == {"format", "own"}
    for kind in formats().values():
        assert kind.takes <= fields
    assert not GIVEN.keys() & OWN.keys()


@pytest.mark.parametrize("name", formats())
def test_each_option_that_a_format_does_not_take(tmp_path: Path, name: str) -> None:
    kind = formats()[name]
    paths = [str(tmp_path / f"{i}") for i in range(kind.paths.start)]
    for path in paths:
        Path(path).write_bytes(b"anything")
    for option in sorted(ALL.keys() - set(kind.opens_with)):
        with pytest.raises(BadParams) as raised:
            open_paths(paths, replace(ALL[option], format=name))
        line = str(raised.value)
        assert f"is {kind.title}, which has no {flags([option])[0]}; " in line
        assert all(flag in line for flag in flags(kind.opens_with))


@pytest.mark.parametrize("name", [name for name, kind in formats().items() if kind.export])
def test_each_option_that_an_export_does_not_take(tmp_path: Path, name: str) -> None:
    kind = formats()[name]
    write_envi(tmp_path / "a.hdr", cube())
    targets = [str(tmp_path / f"b{i}") for i in range((kind.targets or kind.paths).start)]
    for option, chosen in EXPORTED.items():
        wanted = replace(chosen, format=name)
        with pytest.raises(BadParams) as raised:
            export_source(open_source(str(tmp_path / "a.hdr")), targets, wanted, Work())
        refused = f"is {kind.title}, which has no {flags([option])[0]}; "
        assert (refused in str(raised.value)) == (option not in kind.exports_with), option
        assert not any(Path(target).exists() for target in targets)


WRONG = [
    (envi, "a.hdr", ("--variable", "nope"), "has no --variable; leave --variable out"),
    (envi, "a.hdr", ("--interleave", "bsq"), "is ENVI, which has no --interleave"),
    (envi, "a.hdr", ("--offset", 1), "is ENVI, which has no --offset"),
    (
        envi,
        "a.hdr",
        ("--shape", "1,2,3", "--dtype", "u1", "--variable", "a"),
        "is raw, which has",
    ),
    (
        envi,
        "a.hdr",
        ("--format", "nope"),
        "format must be 2bit, bam, collection, emit, enmap, envi, fasta, fastq, genbank",
    ),
    (lone, "a.zarr", ("--variable", "nope"), "no variable 'nope'; there are: data"),
    (lone, "a.zarr", ("--shape", "1,2,3"), "is Zarr, which has no --shape; it has --group and"),
    (zarr3, "a.zarr", ("--variable", "nope"), "no variable 'nope'; there are: cube"),
    (zarr3, "a.zarr", ("--group", "nope"), "no Zarr array or group there; groups in a.zarr: none"),
    (netcdf, "a.nc", ("--variable", "nope"), "no variable 'nope'; there are: a"),
    (netcdf, "a.nc", ("--byte-order", "big"), "is NetCDF, which has no --byte-order; it has"),
    (hdf5, "a.h5", ("--group", "nope"), "has no group 'nope'; there are: Data"),
    (kat, "a.h5", ("--variable", "nope"), "no variable 'nope'; there are: VISIBILITY"),
]


@pytest.mark.parametrize(("write", "name", "options", "line"), WRONG)
def test_what_the_commands_say(
    gangsaw: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: object,
    name: str,
    options: tuple[str, ...],
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path(name))  # type: ignore[operator]
    assert line in gangsaw("compress", name, "out.zarr", "--workers", 0, *options).failed(USAGE)
    assert not Path("out.zarr").exists()


def test_the_format_that_the_user_names(gangsaw: CommandLine, tmp_path: Path) -> None:
    kat(tmp_path / "a.h5")
    command = ("compress", tmp_path / "a.h5", tmp_path / "a.zarr", "--workers", 0)
    gangsaw.ok(*command, "--format", "netcdf", "--group", "Data")
    assert "correlator_data" in zarr.open_group(tmp_path / "a.zarr", mode="r")
    line = gangsaw(*command, "--format", "envi", "--overwrite").failed(USAGE)
    assert "a.h5 has no ENVI header: put it next to the data, as a.h5.hdr or a.hdr" in line
    write_envi(tmp_path / "a.hdr", cube())
    line = gangsaw("compress", tmp_path / "a.img", tmp_path / "b.zarr", "--format", "raw").failed(
        USAGE
    )
    assert "describe it with --shape and --dtype" in line


def test_what_is_left_out_is_said(gangsaw: CommandLine, tmp_path: Path) -> None:
    data = zarr.create_group(tmp_path / "a.zarr")
    data.create_array("a", data=np.eye(3, dtype="u1"), dimension_names=("y", "x"))
    data.create_array("lat", data=np.arange(3.0), dimension_names=("y",))
    wanted = ("decompress", tmp_path / "a.zarr", tmp_path / "a.hdr", "--workers", 0)
    refused = gangsaw(*wanted).failed(USAGE)
    assert "ENVI cannot hold coordinate lat; --accept-loss leaves that out" in refused
    assert not (tmp_path / "a.hdr").exists()
    said = gangsaw.ok(*wanted, "--accept-loss").out
    assert "left out" in said
    assert "coordinate lat" in said
    said = gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "a.nc", "--workers", 0).out
    assert "left out" not in said
