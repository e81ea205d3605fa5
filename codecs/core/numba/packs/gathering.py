"""Input of packs: the code of each kernel that Python calls, collected during normal work.

The code of a kernel includes all kernels that it calls.
"""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import itemgetter
from pathlib import Path

from numba.core.serialize import dumps
from numba.core.types import Type

# variable with the folder where processes write kernels that they compiled or loaded
FOLDER = "GANGSAW_GATHER_KERNELS"
CODE, ABOUT = ".code", ".json"


@lru_cache
def gathering_folder() -> Path | None:
    """Return the folder where kernels for a new pack are collected; None if none is being built."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else None


def gather_kernel(
    key: str | None, kernel: str, signature: tuple[Type, ...], code: Callable[[], object]
) -> None:
    """Write a kernel's machine code with its name and argument types to the gathering folder."""
    into = gathering_folder()
    if into is None or key is None:
        return
    if (into / f"{key}{ABOUT}").exists():
        return
    about = {
        "kernel": kernel,
        "signature": str(signature),
        "types": dumps(signature).hex(),
        "time": time.time_ns(),
    }
    _write(into / f"{key}{CODE}", dumps(code()))
    # last: its existence makes the code file valid
    _write(into / f"{key}{ABOUT}", json.dumps(about).encode())


def gathered(into: Path) -> Iterator[tuple[str, str, str, bytes]]:
    """Yield key, kernel name, signature and pickled code of all kernels in a gathering folder."""
    for path in sorted(into.glob(f"*{ABOUT}")):
        about = json.loads(path.read_text(encoding="utf-8"))
        code = path.with_suffix(CODE).read_bytes()
        yield path.stem, about["kernel"], about["signature"], code


def called(into: Path) -> Iterator[tuple[str, str, tuple[Type, ...]]]:
    """Yield module, kernel name and argument types of all kernels in a gathering folder.

    They are in the order of their calls.
    """
    every = (json.loads(path.read_text(encoding="utf-8")) for path in into.glob(f"*{ABOUT}"))
    for about in sorted(every, key=itemgetter("time", "kernel", "signature")):
        module, _, name = about["kernel"].partition(":")
        yield module, name, pickle.loads(bytes.fromhex(about["types"]))


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)
