"""Small repertoires of the installed germline, and jobs that count them."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import xarray as xr

from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.tcr import count_paths
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch
from gangsaw.tasks.tcr.germline import Germline, open_germline
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.repertoire.cleaning.clean import Limits
from gangsaw.tasks.tcr.repertoire.inputs import open_inputs
from gangsaw.tasks.tcr.store.job import count_repertoires
from gangsaw.tasks.tcr.store.setup import CountChoice, PhaseProgress, Setup
from gangsaw.tasks.tcr.store.summary import CountSummary
from helpers import tcr_tables
from helpers.tcr_tables import Record

if TYPE_CHECKING:
    from distributed import Client

LETTERS = np.array(list("?AT?C???G"))
EVERYTHING = Limits(keep_out_of_frame=True, keep_unproductive=True)
SIZES = {"a": 150, "b": 70, "c": 30}  # good rows of each file
BAD = (
    ("no CDR3", Record(junction="", id="none")),
    ("not nucleotides", Record(junction="TGTGCCXXXTTT", id="letters")),
    ("too short", Record(junction="TGTTTT", id="short")),
    ("unknown V", Record(v="TRBV99*01", id="v99")),
    ("no J", Record(j="", id="no j")),
)


@cache
def germline() -> Germline:
    """Human TRB, as olga has it; what needs it is skipped where that is not installed."""
    pytest.importorskip("olga", reason="the extra tcr is not installed")
    return open_germline("olga", locus="TRB", species="human").checked(4)


def setup(**changes: Any) -> Setup:
    """Both models, and small chunks."""
    plain = Setup(germline(), Model("both"), EVERYTHING, chunk_rows=64)
    return replace(plain, **changes)


def records(n: int, seed: int = 0, name: str = "r") -> list[Record]:
    """Random rearrangements; a tenth is there twice."""
    parts = {part: [p.sequence for p in getattr(germline(), part)] for part in "vdj"}
    batch = random_batch(parts["v"], parts["d"], parts["j"], n, seed)
    starts, letters = batch.references.offsets, LETTERS[batch.references.data]
    found = [
        Record(
            junction=f"TGT{''.join(letters[starts[i] : starts[i + 1]])}TTT",
            v=germline().v[batch.v_of[i]].name,
            j=germline().j[batch.j_of[i]].name,
            copies=i % 7 + 1,
            id=f"{name}{i}",
        )
        for i in range(n)
    ]
    again = range(0, n - 10, 10)
    for i in again:
        found[i + 10] = replace(found[i], id=f"{name}{i + 10}")
    return found


def written(folder: Path, name: str, rows: list[Record]) -> Path:
    """Write an AIRR table, packed."""
    path = folder / f"{name}.tsv.gz"
    path.write_bytes(gzip.compress(tcr_tables.airr(rows).encode(), 1))
    return path


@dataclass(frozen=True)
class Repertoires:
    """Files, and the rows of them that can be counted, in order."""

    paths: tuple[Path, ...]
    good: tuple[Record, ...]

    def count(
        self,
        target: Any,
        changed: Setup | None = None,
        *,
        client: Client | None = None,
        options: Options | None = None,
        on_read: OnProgress | None = None,
        on_count: OnProgress | None = None,
        **choice: Any,
    ) -> CountSummary:
        """Count them, in this thread without a client; `choice` holds the fields of CountChoice."""
        return count_repertoires(
            open_inputs(self.paths),
            target,
            changed or setup(),
            choice=CountChoice(**choice),
            client=client,
            options=options,
            progress=PhaseProgress(on_read, on_count),
        )


def three_files(folder: Path) -> Repertoires:
    """Three files of a few chunks in all, bad rows among the good ones."""
    several = [records(n, seed, name) for seed, (name, n) in enumerate(SIZES.items())]
    bad = [record for _, record in BAD]
    mixed = [several[0][:20] + bad + several[0][20:], bad[:2] + several[1], several[2]]
    paths = [written(folder, name, rows) for name, rows in zip(SIZES, mixed, strict=True)]
    return Repertoires(tuple(paths), tuple(row for rows in several for row in rows))


def in_memory(rows: tuple[Record, ...], model: Model) -> xr.Dataset:
    """What the pure function counts for these rows."""
    parts = {p.name: p.sequence for p in germline().v + germline().j}
    return count_paths(
        [row.junction[3:-3] for row in rows],
        [parts[row.v] for row in rows],
        [parts[row.j] for row in rows],
        {part.name: part.sequence for part in germline().d},
        model=model.kind,
        strands=model.strands,
        max_p=model.max_p,
        max_n=model.max_n,
    )
