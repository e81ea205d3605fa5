"""Gangsaw: domain codecs for Zarr with indexed blocks, mapped over clusters by Dask.

Names are imported at first use: `import gangsaw` loads neither Zarr nor Numba nor Dask.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import version

    from gangsaw import align as align
    from gangsaw import codecs as codecs
    from gangsaw import genomes as genomes
    from gangsaw import reads as reads
    from gangsaw import search as search
    from gangsaw import tcr as tcr
    from gangsaw import xarray as xarray
    from gangsaw.codecs.core.errors import (
        BadParams,
        CorruptChunk,
        DeviceError,
        GangsawError,
        JobFailed,
        NewerFormat,
    )
    from gangsaw.tasks.api.functions import compress, decompress, info, open, plot, verify, workers
    from gangsaw.tasks.api.xarray_accessor import encoding
    from gangsaw.tasks.jobs.compress import Summary
    from gangsaw.tasks.jobs.figures.report import StoreInfo
    from gangsaw.tasks.jobs.verification.verify import Report

    __version__ = version("gangsaw")

_HOMES = {
    "compress": "gangsaw.tasks.api.functions",
    "decompress": "gangsaw.tasks.api.functions",
    "info": "gangsaw.tasks.api.functions",
    "open": "gangsaw.tasks.api.functions",
    "plot": "gangsaw.tasks.api.functions",
    "verify": "gangsaw.tasks.api.functions",
    "workers": "gangsaw.tasks.api.functions",
    "encoding": "gangsaw.tasks.api.xarray_accessor",
    "BadParams": "gangsaw.codecs.core.errors",
    "CorruptChunk": "gangsaw.codecs.core.errors",
    "DeviceError": "gangsaw.codecs.core.errors",
    "GangsawError": "gangsaw.codecs.core.errors",
    "JobFailed": "gangsaw.codecs.core.errors",
    "NewerFormat": "gangsaw.codecs.core.errors",
    "Report": "gangsaw.tasks.jobs.verification.verify",
    "StoreInfo": "gangsaw.tasks.jobs.figures.report",
    "Summary": "gangsaw.tasks.jobs.compress",
}

_DOMAINS = {path.stem for path in Path(__file__).parent.glob("[!_]*.py")}
_PARTS = {"cluster", "codecs", "tasks", *_DOMAINS}

__all__ = [
    "BadParams",
    "CorruptChunk",
    "DeviceError",
    "GangsawError",
    "JobFailed",
    "NewerFormat",
    "Report",
    "StoreInfo",
    "Summary",
    "__version__",
    "compress",
    "decompress",
    "encoding",
    "info",
    "open",
    "plot",
    "verify",
    "workers",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("gangsaw")
    if name in _PARTS:
        return import_module(f"gangsaw.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS})
