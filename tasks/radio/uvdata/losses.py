"""Items that pyuvdata drops from miriad, and from uvfits whose groups are not plain float32."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from gangsaw.tasks.store.dataset.losses import Refused

ITEMS_READ = {"visdata", "vartable", "header", "flags", "history"}  # files that pyuvdata reads
TABLES_READ = {"AIPS AN", "AIPS FQ", "AIPS SU"}  # tables of uvfits that pyuvdata reads
VARIABLES_READ = {
    *("nchan", "npol", "inttime", "sdf", "source", "telescop", "latitud", "longitu", "altitude"),
    *("history", "visunits", "instrume", "dut1", "gst0", "rdate", "timesys", "xorient", "polconv"),
    *("cnt", "ra", "dec", "lst", "pol", "nants", "antnames", "nblts", "ntimes", "nbls", "sfreq"),
    *("epoch", "antpos", "antnums", "degpdy", "antdiam", "phsframe", "bltorder"),
    *("evector", "mount", "nfeeds", "feedang", "feedarr", "nspect", "nschan", "ischan", "freqs"),
}
# layout of the visibilities in the file, and duplicates of other variables
VARIABLES_OF_LAYOUT = {
    *("corr", "tscale", "coord", "time", "baseline", "freq", "obsra", "obsdec", "operator"),
    *("version", "diameter"),
}


def lost_of_miriad(path: str, keywords: Collection[str]) -> Iterator[Refused]:
    """Yield the items and variables of a folder that pyuvdata did not read.

    `keywords` are the extra keywords that pyuvdata preserves.
    """
    folder = Path(path)
    for item in sorted(folder.iterdir()):
        if item.name not in ITEMS_READ:
            yield Refused(f"item {item.name}", "is a file that pyuvdata does not read")
    held = VARIABLES_READ | VARIABLES_OF_LAYOUT | set(keywords)
    for name in _variables(folder):
        if name not in held:
            yield Refused(f"variable {name}", "is one that pyuvdata does not keep")


def _variables(folder: Path) -> list[str]:
    """Return the names in the table of variables, whose lines are a type and a name."""
    text = (folder / "vartable").read_text("latin-1").replace("\0", "")
    return [line.split()[1] for line in text.splitlines() if len(line.split()) > 1]


def lost_of_uvfits(path: str) -> Iterator[Refused]:
    """Yield the items that are lost from a uvfits file without plain float32 groups."""
    from astropy.io import fits

    with fits.open(path, memmap=True, lazy_load_hdus=False) as file:
        header = file[0].header
        for hdu in file[1:]:
            if hdu.name not in TABLES_READ:
                yield Refused(f"table {hdu.name}", "is one that pyuvdata does not read")
        if header["BITPIX"] in (-64, 32, 64):
            reason = "have more bits than the single precision in which they are stored"
            yield Refused(f"samples of BITPIX {header['BITPIX']}", reason)
