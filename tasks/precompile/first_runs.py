"""First runs: short commands of each domain that compile its kernels for packs.

A domain adds its runs under the entry points `gangsaw.first_runs`. Their data are generated from
seeds and small: kernels are compiled for argument types, whatever the sizes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.numba.packs.ahead.kernel_lists import GROUP as GROUP
from gangsaw.codecs.core.plugins import entry_points


@dataclass(frozen=True)
class FirstRun:
    """Commands on small data that are run in advance, so that their kernels are compiled.

    They are run in sequence in a folder of their own.

    Attributes
    ----------
    name : name of the run, in a word or two
    make : function that writes the data into a folder
    commands : arguments of `gangsaw`; paths are relative to the folder
    needs : modules without which it is skipped
    """

    name: str
    make: Callable[[Path], None]
    commands: tuple[tuple[str, ...], ...]
    needs: tuple[str, ...] = ()

    @property
    def is_possible(self) -> bool:
        """True if all needed modules are installed."""
        return all(importlib.util.find_spec(name) is not None for name in self.needs)


@dataclass(frozen=True)
class FirstRuns:
    """First runs of a domain: its entry in the table of the entry points."""

    runs: tuple[FirstRun, ...]


def first_runs() -> dict[str, FirstRun]:
    """Return the first runs of all domains by name, except those with missing modules."""
    return {name: run for name, run in all_runs().items() if run.is_possible}


def all_runs() -> dict[str, FirstRun]:
    """Return the first runs of all domains by name."""
    every = (
        run for runs in entry_points.load_table(GROUP, FirstRuns).values() for run in runs.runs
    )
    return {run.name: run for run in every}
