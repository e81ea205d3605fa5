"""All codecs of the installed table with their samples: the suite over every codec runs on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda.device import to_host
from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.codecs.core.zarr.v2 import BlockCodecV2

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Case:
    """One codec with one of its samples."""

    codec_type: type[BlockCodec]
    sample: Sample

    @property
    def codec(self) -> BlockCodec:
        return self.codec_type(**vars(self.sample.params))

    @property
    def array(self) -> npt.NDArray[Any]:
        return self.sample.array

    def encode(self, library: Any = np) -> bytes:
        """Its frame; encoded on a GPU when the library is CuPy."""
        return self.codec.encode_chunk(library.asarray(self.array))

    def decode(self, data: Any, library: Any = np) -> npt.NDArray[Any]:
        dtype = self.array.dtype if library is np else self.array.dtype.newbyteorder("=")
        out = library.empty(self.array.shape, dtype)  # CuPy knows the machine's byte order only
        self.codec.decode_chunk(data, out)
        return to_host(out)


def codec_types() -> list[type[BlockCodec]]:
    return codec_table.classes()


def v2_type(codec_type: type[BlockCodec]) -> type[BlockCodecV2]:
    """Its class for numcodecs, which has the same name."""
    (entry,) = entry_points(group="numcodecs.codecs", name=codec_type.codec_name)
    loaded: type[BlockCodecV2] = entry.load()
    return loaded


@lru_cache
def cases() -> tuple[Case, ...]:
    """Return every codec with each of its samples; nobody writes into their arrays."""
    return tuple(
        Case(codec_type, sample)
        for codec_type in codec_types()
        for sample in import_module(f"{package(codec_type)}.samples").samples()
    )


def one_of_each(found: Iterable[Case]) -> list[Case]:
    """Return the first case of each codec."""
    return list({case.codec_type: case for case in reversed([*found])}.values())


def over(found: Iterable[Any], of_each: int = 1) -> Callable[[Any], Any]:
    """Return a decorator of tests over cases; the quick tier runs some of each codec."""
    import pytest  # GPU checks import this module where there is no pytest

    parameters = pytest.mark.parametrize("case", [*found], ids=label)
    return lambda test: parameters(of_each_codec(test, of_each))


def over_codecs(test: Any) -> Any:
    """Parametrise a test over all codecs, in both tiers."""
    import pytest

    return pytest.mark.parametrize("codec_type", codec_types(), ids=folder)(of_each_codec(test))


def of_each_codec(test: Any, cases: int = 1) -> Any:
    """Mark a test so that the quick tier runs some of its cases for each codec."""
    import pytest

    return pytest.mark.quick(cases=cases, by=_codec_of)(test)


def _codec_of(parameters: Mapping[str, Any]) -> str:
    case = parameters.get("case")
    return folder(case.codec_type if case else parameters["codec_type"])


def gpu_cases() -> list[Case]:
    """Those of codecs that have a GPU backend."""
    return [case for case in cases() if find_spec(f"{package(case.codec_type)}.gpu")]


def label(case: Case) -> str:
    return f"{folder(case.codec_type)}-{case.sample.name}"


def package(codec_type: type[BlockCodec]) -> str:
    return codec_type.__module__.rpartition(".")[0]


def folder(codec_type: type[BlockCodec]) -> str:
    """Name of the codec's folder."""
    return package(codec_type).rpartition(".")[2]


def place(codec_type: type[BlockCodec]) -> Path:
    """Where the codec's folder is."""
    (path,) = import_module(package(codec_type)).__path__
    return Path(path)


def is_plugin(codec_type: type[BlockCodec]) -> bool:
    """Whether it is of another distribution: then all its files are in its own folder."""
    return not package(codec_type).startswith("gangsaw.codecs.")


def reference(codec_type: type[BlockCodec]) -> ModuleType:
    """Its slow reference."""
    own = is_plugin(codec_type)
    return import_module(
        f"{package(codec_type)}.reference" if own else f"reference.{folder(codec_type)}"
    )


def golden(codec_type: type[BlockCodec]) -> Path:
    """Folder of its golden files."""
    own = is_plugin(codec_type)
    return place(codec_type) / "golden" if own else TESTS / "golden" / folder(codec_type)


def home(case: Case) -> Path:
    """Folder of its golden files of the version of frames that it writes."""
    version = case.codec.coder(case.array.shape, case.array.dtype).layout.version
    return golden(case.codec_type) / f"v{version}"


def assert_same_bits(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    """Equal values and shapes; of floats also payloads of NaNs and signs of zeros."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        np.testing.assert_array_equal(found, expected)
    if expected.dtype.kind in "fc":
        assert _little(found) == _little(expected)


def _little(array: npt.NDArray[Any]) -> bytes:
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def coder(case: Case) -> ChunkCoder:
    return case.codec.coder(case.array.shape, case.array.dtype)


def forged(blocks: Runs, rng: np.random.Generator) -> Runs:
    """Flipped bits, mostly at the begin; a block cut short; lanes of other lengths."""
    payload, lengths = blocks.joined_payload().copy(), blocks.lengths.copy()
    lanes = None if blocks.lane_bits is None else blocks.lane_bits.copy()
    what = rng.integers(3)
    if what == 0:
        reach = rng.choice([20, payload.size])
        at = rng.integers(0, min(reach, payload.size), rng.integers(1, 4))
        payload[at] ^= rng.integers(1, 256, at.size).astype(np.uint8)
    elif what == 1 or lanes is None:
        keep = int(rng.integers(0, lengths[-1]))
        payload = payload[: payload.size - lengths[-1] + keep]
        lengths[-1] = keep
    if lanes is not None:
        i, lane = rng.integers(lanes.shape[0]), rng.integers(lanes.shape[1])
        lanes[i, lane] = rng.integers(0, lanes[i, lane] + 1) if what == 2 else lanes[i, lane]
        room = 8 * lengths
        lanes = lanes * (lanes.sum(axis=1) <= room)[:, None]
    return Runs.back_to_back(payload, lengths, lanes)
