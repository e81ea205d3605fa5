"""Headers of uvfits and tables of MeasurementSets that claim more than their files hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.radio_files import write

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.radio.uvdata.fits_sizes import BLOCK, CARD, check_fits_headers

pytest.importorskip("pyuvdata")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a uvfits file that is as it should be."""
    return write(tmp_path_factory.mktemp("fits") / "a.uvfits").read_bytes()


def changed(path: Path, data: bytes, keyword: str, value: str) -> str:
    """Write the file with another value of a keyword where it comes first."""
    for at in range(0, len(data), CARD):
        if data[at : at + 9] == f"{keyword:8}=".encode():
            path.write_bytes(data[: at + 10] + f"{value:>20}".encode() + data[at + 30 :])
            return str(path)
    raise AssertionError(keyword)


def test_a_whole_file_passes(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "a.uvfits").write_bytes(whole)
    check_fits_headers(str(tmp_path / "a.uvfits"))
    (tmp_path / "a.uvfits").write_bytes(whole + b"\0" * BLOCK)  # as tapes were padded
    check_fits_headers(str(tmp_path / "a.uvfits"))


@pytest.mark.parametrize("keyword", ["GCOUNT", "PCOUNT", "NAXIS3", "NAXIS4"])
def test_groups_that_are_not_there(tmp_path: Path, whole: bytes, keyword: str) -> None:
    path = changed(tmp_path / "a.uvfits", whole, keyword, "10000000000")
    with pytest.raises(BadParams, match=r"a.uvfits is truncated: the header at byte 0 claims"):
        check_fits_headers(path)


@pytest.mark.parametrize("value", ["-5", "1e400", "NaN", "1000000000000"])
def test_numbers_of_axes_that_are_none(tmp_path: Path, whole: bytes, value: str) -> None:
    path = changed(tmp_path / "a.uvfits", whole, "NAXIS", value)
    with pytest.raises(BadParams, match=r"a.uvfits: NAXIS in a header must be a whole number"):
        check_fits_headers(path)


def test_a_table_behind_the_groups(tmp_path: Path, whole: bytes) -> None:
    at = whole.index(b"XTENSION")
    path = changed(tmp_path / "b.uvfits", whole[at:], "NAXIS2", "10000000000")
    (tmp_path / "a.uvfits").write_bytes(whole[:at] + Path(path).read_bytes())
    with pytest.raises(BadParams, match=rf"the header at byte {at} claims"):
        check_fits_headers(str(tmp_path / "a.uvfits"))


def test_a_header_without_end(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "a.uvfits").write_bytes(whole[:BLOCK])
    with pytest.raises(BadParams, match=r"a header has no END"):
        check_fits_headers(str(tmp_path / "a.uvfits"))


def test_opening_looks_at_sizes_first(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gangsaw.tasks.radio.uvdata import uvdata

    monkeypatch.setattr(uvdata, "_open", lambda *_: pytest.fail("pyuvdata was asked"))
    with pytest.raises(BadParams, match="is truncated"):
        uvdata.open_uvfits(changed(tmp_path / "a.uvfits", whole, "GCOUNT", "10000000000"))


def test_rows_that_no_file_holds(tmp_path: Path) -> None:
    tables = pytest.importorskip("casacore.tables")
    from gangsaw.tasks.radio.measurement_sets.measurement_set import open_measurement_set

    scalar = tables.makescacoldesc
    columns = [scalar("TIME", 0.0, "IncrementalStMan")] + [
        scalar(name, 0, "IncrementalStMan") for name in ("ANTENNA1", "ANTENNA2", "DATA_DESC_ID")
    ]
    made = tables.table(str(tmp_path / "a.ms"), tables.maketabdesc(columns), ack=False)
    made.addrows(10**9)
    made.close()
    with pytest.raises(BadParams, match=r"a.ms: its table claims 1,000,000,000 rows"):
        open_measurement_set(str(tmp_path / "a.ms"))
