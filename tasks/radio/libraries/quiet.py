"""Settings of pyuvdata: no changes to the data, no warnings, no network access."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# without these, pyuvdata makes autocorrelations real and refuses data that fail its checks
AS_IT_IS = {"run_check": False, "check_autos": False, "fix_autos": False}


@contextmanager
def silence_pyuvdata() -> Iterator[None]:
    """Suppress warnings of pyuvdata, and downloads of sites and clocks by astropy."""
    from astropy.coordinates import EarthLocation
    from astropy.utils import iers

    known = EarthLocation.__dict__["get_site_names"]
    EarthLocation.get_site_names = classmethod(lambda *_, **__: [])
    try:
        with warnings.catch_warnings(), iers.conf.set_temp("auto_download", False):
            warnings.simplefilter("ignore")
            yield
    finally:
        EarthLocation.get_site_names = known
