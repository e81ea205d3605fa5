"""Folder of Gangsaw's own files on this machine."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def user_cache() -> Path:
    """Return this user's cache folder for Gangsaw, by the conventions of the platform."""
    with suppress(RuntimeError):  # raised without a home folder
        if sys.platform == "win32":
            default = Path.home() / "AppData/Local"
            return Path(os.environ.get("LOCALAPPDATA") or default) / "gangsaw"
        if sys.platform == "darwin":
            return Path.home() / "Library/Caches/gangsaw"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gangsaw"
    return Path(os.devnull)  # cannot be a folder, so nothing is written
