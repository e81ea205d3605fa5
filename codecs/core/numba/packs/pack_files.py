"""Folders and names of packs of compiled kernels.

A pack is code: whoever can write it can run code as its readers. So packs are loaded only from the
package's own folder, and from folders that the environment names.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import llvmlite
import numba

# folders with packs, searched before the package's own; `off`: no packs
FOLDERS = "GANGSAW_KERNELS"
OFF = "off"
SUFFIX = ".pack"


def folders() -> tuple[Path, ...]:
    """Return the folders to search for packs (files of compiled kernels), in order."""
    named = os.environ.get(FOLDERS, "")
    if named == OFF:
        return ()
    return (*(Path(part) for part in named.split(os.pathsep) if part), package_folder())


def package_folder() -> Path:
    """Return the folder `kernels` of the installed package; it need not exist."""
    return Path(str(sys.modules["gangsaw"].__file__)).parent / "kernels"


def file_name(level: str) -> str:
    """Return the file name of the pack for a level and this Python, Numba and llvmlite."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    versions = f"numba{numba.__version__}-llvmlite{llvmlite.__version__}"
    return f"{level}-{python}-{versions}{SUFFIX}"


def pack_of(level: str) -> Path | None:
    """Return the pack for a level and the installed versions; None if there is none.

    The level is an instruction set, see `Level`.
    """
    paths = (folder / file_name(level) for folder in folders())
    return next((path for path in paths if path.is_file()), None)
