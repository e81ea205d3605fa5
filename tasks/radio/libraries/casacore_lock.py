"""What all who call casacore share."""

from __future__ import annotations

from threading import RLock

UNLOCKED = {"option": "usernoread"}  # a lock is a write, and the folder may not be writable
CASACORE = RLock()  # it is not safe to call from several threads
