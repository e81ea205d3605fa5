"""What goes into packs: the code of each kernel that Python calls, gathered while work is done.

Kernels that only kernels call are part of the code of these.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

FOLDER = "GANGSAW_GATHER_KERNELS"  # where processes put what they compiled or loaded
CODE, ABOUT = ".code", ".json"


@lru_cache
def folder() -> Path | None:
    """Return the folder where kernels are gathered; None: nobody makes a pack."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else None


def gather(key: str | None, kernel: str, signature: Any, code: Callable[[], object]) -> None:
    """Write a kernel's code, as Numba's cache keeps it, its name and types of its arguments."""
    into = folder()
    if into is None or key is None:
        return
    if (into / f"{key}{ABOUT}").exists():
        return
    about = {"kernel": kernel, "signature": str(signature), "types": dumps(signature).hex()}
    _write(into / f"{key}{CODE}", dumps(code()))
    _write(into / f"{key}{ABOUT}", json.dumps(about).encode())  # last: it makes the other count


def gathered(into: Path) -> Iterator[tuple[str, str, str, bytes]]:
    """Yield key, kernel, signature and pickled code of all that was gathered."""
    for path in sorted(into.glob(f"*{ABOUT}")):
        about = json.loads(path.read_text(encoding="utf-8"))
        code = path.with_suffix(CODE).read_bytes()
        yield path.stem, about["kernel"], about["signature"], code


def called(into: Path) -> Iterator[tuple[str, str, object]]:
    """Yield modules, names of kernels there, and the types that these were called with."""
    for path in sorted(into.glob(f"*{ABOUT}")):
        about = json.loads(path.read_text(encoding="utf-8"))
        module, _, name = about["kernel"].partition(":")
        yield module, name, pickle.loads(bytes.fromhex(about["types"]))


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)
