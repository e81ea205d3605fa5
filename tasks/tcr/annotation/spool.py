"""Results of batches on disk: a step output per batch, with a journal.

Memory holds one batch, and later the junctions of one length at a time. A resumed run reads the
input again, but annotates only batches that are missing in the journal.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs
from gangsaw.tasks.store.state.records import Records
from gangsaw.tasks.tcr.annotation.batch import BatchFound
from gangsaw.tasks.tcr.annotation.index import Ints
from gangsaw.tasks.tcr.annotation.keys import KeyTable, grouped, stacked
from gangsaw.tasks.tcr.annotation.reading import NumberedMates

CHOICE = "chosen.json"  # in the job's folder
AT_ONCE = 64  # tables in memory before they are grouped


@dataclass
class SpoolTotals:
    """Totals over all batches, without nucleotypes.

    Attributes
    ----------
    reads : number of reads; a pair counts once
    culled : number of rejected reads by reason
    letters, bits : reads and hashed junctions by gene position and base, see `BatchFound`
    lengths : for each junction length, the numbers of the batches that have such junctions
    """

    reads: int
    culled: Counter[str]
    letters: Ints
    bits: NDArray[np.uint64]
    lengths: dict[int, list[int]]


@dataclass(frozen=True)
class Spool:
    """Stored results of the batches of an annotation job, from which it can be resumed.

    Attributes
    ----------
    folder : folder of the job
    own : text that identifies the job: its inputs and options
    """

    folder: Path
    own: str

    @cached_property
    def parts(self) -> StepOutputs:
        """Files of the results, one per batch."""
        digest = hashlib.sha256(self.own.encode()).hexdigest()
        return StepOutputs(self.folder / "batches", digest)

    def chosen(self, choice: Mapping[str, object]) -> tuple[str, ...]:
        """Store the options that may change on resume; return a note for each changed one.

        Parameters
        ----------
        choice : JSON values by option name
        """
        path = self.folder / CHOICE
        before = choice if not path.is_file() else _read_choice(path)
        part = path.with_suffix(".new")
        part.write_text(json.dumps(dict(choice)), encoding="ascii")
        part.replace(path)
        return tuple(
            f"{name} is {value} for all reads; the run that is resumed had {before[name]}"
            for name, value in choice.items()
            if name in before and before[name] != value
        )

    @cached_property
    def entries(self) -> dict[int, Records]:
        """Journal entries by batch number; their `raw_bytes` is the number of reads."""
        if (manifest := self.parts.manifest()) is not None:
            return dict.fromkeys(range(len(manifest.rows)), manifest)
        return {one.first: one for one in self.parts.journal.entries()}

    @property
    def is_complete(self) -> bool:
        """True if the results of all batches are stored."""
        return self.parts.manifest() is not None

    def left(self, batches: Iterable[NumberedMates]) -> Iterator[NumberedMates]:
        """Yield the batches without a stored result."""
        return (batch for batch in batches if batch.number not in self.entries)

    def put(self, number: int, found: BatchFound) -> None:
        """Store the result of a batch."""
        records = self.parts.put(number, (_packed(found), found.reads))
        self.parts.journal_records([records])
        self.entries[number] = records

    def finish(self) -> None:
        """Mark all batches as stored."""
        if not self.is_complete:
            self.parts.finish(list(self.entries.values()))

    def totals(self, n_bases: int) -> SpoolTotals:
        """Return the totals of all batches.

        Parameters
        ----------
        n_bases : number of bases of all genes
        """
        seen = np.zeros((n_bases, 4), np.int64), np.zeros((n_bases, 4), np.uint64)
        whole = SpoolTotals(0, Counter(), *seen, {})
        for number in sorted(self.entries):
            own = self._arrays(number, lambda name: "." not in name)
            told = json.loads(own["told"].tobytes())
            whole.reads += told["reads"]
            whole.culled.update(told["culled"])
            whole.letters.ravel()[own["at"]] += own["letters"]
            whole.bits.ravel()[own["at"]] |= own["bits"]
            for length in told["lengths"]:
                whole.lengths.setdefault(length, []).append(number)
        return whole

    def keys(self, length: int, numbers: Iterable[int]) -> KeyTable:
        """Return the nucleotypes of the given batches with junctions of one length."""
        tables: list[KeyTable] = []
        for number in numbers:
            own = self._arrays(number, lambda name: name.startswith(f"{length}."))
            tables.append(KeyTable.of({name.partition(".")[2]: x for name, x in own.items()}))
            if len(tables) > AT_ONCE:
                tables = [grouped(stacked(tables))]
        return grouped(stacked(tables))

    def _arrays(self, number: int, is_wanted: Callable[[str], bool]) -> dict[str, NumpyArray]:
        """Return the stored arrays of a batch whose names are wanted."""
        with np.load(self.parts.path(number), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files if is_wanted(name)}


def _read_choice(path: Path) -> Mapping[str, object]:
    """Return the options of the earlier run; empty if it was killed while it wrote them."""
    try:
        found = json.loads(path.read_text(encoding="ascii"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _packed(found: BatchFound) -> bytes:
    told = {"reads": found.reads, "culled": found.culled, "lengths": [*found.keys]}
    at = np.flatnonzero(found.letters)
    arrays: dict[str, NumpyArray] = {
        "told": np.frombuffer(json.dumps(told).encode(), np.uint8),
        "at": at,
        "letters": found.letters.ravel()[at],
        "bits": found.bits.ravel()[at],
    }
    for length, table in found.keys.items():
        arrays |= {f"{length}.{name}": own for name, own in table.arrays().items()}
    written = io.BytesIO()
    np.savez(written, allow_pickle=False, **arrays)  # deflate took a third of the job's time
    return written.getvalue()
