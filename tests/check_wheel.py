"""Check that a wheel holds every source file of the package and, besides packs of compiled kernels,
nothing else.

Usage: python tests/check_wheel.py WHEEL
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE_OF = {"src/gangsaw": "gangsaw", "codecs": "gangsaw/codecs"} | {
    folder: f"gangsaw/{folder}" for folder in ("tasks", "cluster")
}

PACK = re.compile(r"gangsaw/kernels/[\w-]+-cp\d+t?-numba[\w.]+-llvmlite[\w.]+\.pack")


def expected() -> set[str]:
    """Return the paths inside the wheel that the tracked files of the package map to."""
    listing = subprocess.run(
        ["git", "ls-files", *PACKAGE_OF], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return {
        path.replace(folder, package, 1)
        for path in listing
        for folder, package in PACKAGE_OF.items()
        if path.startswith(f"{folder}/")
    }


def main(wheel: str) -> int:
    """Compare, say what differs, return the exit code."""
    names = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    missing = sorted(expected() - names)
    extra = sorted(n for n in names - expected() if not PACK.fullmatch(n))
    for name in missing:
        sys.stderr.write(f"missing from the wheel: {name}\n")
    for name in extra:
        sys.stderr.write(f"not a tracked file: {name}\n")
    return 1 if missing or extra else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare a wheel with the files of this clone.")
    parser.add_argument("wheel")
    sys.exit(main(parser.parse_args().wheel))
