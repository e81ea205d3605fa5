"""Process-wide lock and lock option for all calls of casacore."""

from __future__ import annotations

from threading import RLock

UNLOCKED = {"option": "usernoread"}  # locking writes, and the folder may be read-only
CASACORE = RLock()  # casacore is not thread-safe
