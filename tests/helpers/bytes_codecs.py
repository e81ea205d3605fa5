"""All codecs of bytes of the installed table with their samples."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
from helpers.every_codec import TESTS

Octets = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class BytesCase:
    """One codec of bytes with one of its samples."""

    codec_type: type[BytesCodec]
    sample: Sample

    @property
    def codec(self) -> BytesCodec:
        return self.codec_type(**vars(self.sample.params))

    @property
    def data(self) -> Octets:
        return self.sample.array

    @property
    def label(self) -> str:
        return f"{folder(self.codec_type)}-{self.sample.name}"


def bytes_cases() -> list[BytesCase]:
    return [
        BytesCase(kind, sample)
        for kind in codec_table.bytes_classes()
        for sample in import_module(f"{_package(kind)}.samples").samples()
    ]


def folder(kind: type[BytesCodec]) -> str:
    """Name of the codec's folder."""
    return _package(kind).rpartition(".")[2]


def place(kind: type[BytesCodec]) -> Path:
    """Where the codec's folder is."""
    (path,) = import_module(_package(kind)).__path__
    return Path(path)


def golden(kind: type[BytesCodec]) -> Path:
    """Folder of its golden files."""
    return TESTS / "golden" / folder(kind) / "v1"


def reference(kind: type[BytesCodec]) -> ModuleType:
    """Its slow reference."""
    return import_module(f"reference.{folder(kind)}")


def inner_of(codec: Any) -> Any:
    """What the reference decodes inner frames by."""
    inner = codec.params.inner

    def decode(frame: bytes, count: int, width: int) -> bytes:
        out = np.empty(count, f"<u{width}")
        inner.decode_chunk(frame, out)
        return out.tobytes()

    return decode


def _package(kind: type[BytesCodec]) -> str:
    return kind.__module__.rpartition(".")[0]
