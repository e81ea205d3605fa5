"""What compiles the kernels that packs have: samples of each codec, and short runs of each domain.

A domain adds its runs under the entry points `gangsaw.first_runs`. The data are made here and now,
from seeds, and small: kernels are compiled for kinds of arguments, whatever their sizes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from gangsaw.codecs.core import codec_table, tables
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.samples import Sample
from gangsaw.codecs.core.zarr.block_codec import BlockCodec

GROUP = "gangsaw.first_runs"  # entries are `FirstRuns`


@dataclass(frozen=True)
class FirstRun:
    """Commands over small data, one after the other, in a folder of their own.

    Attributes
    ----------
    name : what is run, in a word or two
    make : writes the data into a folder
    commands : arguments of `gangsaw`; paths are in the folder
    needs : modules without which it is left out
    """

    name: str
    make: Callable[[Path], None]
    commands: tuple[tuple[str, ...], ...]
    needs: tuple[str, ...] = ()

    @property
    def is_possible(self) -> bool:
        """Whether all is installed that it needs."""
        return all(importlib.util.find_spec(name) is not None for name in self.needs)


@dataclass(frozen=True)
class FirstRuns:
    """The runs of a domain."""

    runs: tuple[FirstRun, ...]


def first_runs() -> dict[str, FirstRun]:
    """Return the runs of all domains by name, of those that are possible here."""
    every = (run for runs in tables.table(GROUP, FirstRuns).values() for run in runs.runs)
    return {run.name: run for run in every if run.is_possible}


def codecs() -> list[str]:
    """Return the codecs of arrays: their Zarr names without the first part."""
    return [name.removeprefix(codec_table.PREFIX) for name in codec_table.table()]


def checked_codec(name: str) -> str:
    """Return the name of a codec; raise BadParams where there is none."""
    if name not in codecs():
        raise BadParams(f"no codec is called {name!r}: there are {', '.join(codecs())}")
    return name


def run_samples(codec: str) -> None:
    """Encode and decode all samples of a codec, in every memory order, and read a part of each."""
    for codec_type, sample in _samples(codec):
        coded = codec_type(**vars(sample.params))
        for array in _orders(sample):
            coder = coded.coder(array.shape, array.dtype)
            data = coder.encode(array)
            coder.decode(data, np.empty_like(array))


def _samples(codec: str) -> Iterator[tuple[type[BlockCodec], Sample]]:
    for codec_type in codec_table.classes():
        if codec_type.codec_name == f"{codec_table.PREFIX}{checked_codec(codec)}":
            package = codec_type.__module__.rpartition(".")[0]
            for sample in import_module(f"{package}.samples").samples():
                yield codec_type, sample


def _orders(sample: Sample) -> Iterator[NumpyArray]:
    yield sample.array
    if sample.array.ndim > 1:
        yield np.asfortranarray(sample.array)
        yield np.repeat(sample.array, 2, axis=-1)[..., ::2]  # as of a part of a larger chunk
