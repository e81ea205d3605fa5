"""How pyuvdata is called: it is to change nothing, say nothing, and ask nobody."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# pyuvdata would make autocorrelations real, and refuse what its checks find odd
AS_IT_IS = {"run_check": False, "check_autos": False, "fix_autos": False}


@contextmanager
def quiet_and_offline() -> Iterator[None]:
    """Keep pyuvdata's warnings back, and astropy from asking the Internet for sites and clocks."""
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
