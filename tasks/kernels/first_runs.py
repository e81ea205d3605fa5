"""What compiles kernels of packs besides samples of codecs: short runs of each domain.

A domain adds its runs under the entry points `gangsaw.first_runs`. The data are made here and now,
from seeds, and small: kernels are compiled for kinds of arguments, whatever their sizes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core import tables

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
    return {name: run for name, run in all_runs().items() if run.is_possible}


def all_runs() -> dict[str, FirstRun]:
    """Return the runs of all domains by name."""
    every = (run for runs in tables.table(GROUP, FirstRuns).values() for run in runs.runs)
    return {run.name: run for run in every}
