"""Bytes of a GPU against the CPU's, as rows: one a sample, and one a codec on the page."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from gangsaw.tasks.bench.table import Measurement, Row

sys.path.append(str(Path(__file__).resolve().parents[2] / "deploy" / "gpu"))

import parity

TITLE = "Bytes of a GPU"
ON_HOST = "these run on the CPU"
SHOWN = 4  # differences that a row names


def tasks() -> list[Measurement]:
    """Return a task for each set-up; its row counts what differs from the CPU."""
    known = parity.known()
    return [
        Measurement(row, partial(_measured, row, setup, known.get(name)))
        for name, setup in parity.setups().items()
        for row in [Row(name, None, "differences", "<= 0")]
    ]


def _measured(row: Row, setup: parity.Setup, wanted: parity.Checksums | None) -> Row:
    try:
        found = parity.problems(setup, wanted)
    except parity.OnHost:
        return replace(row, why=ON_HOST)
    return replace(row, value=len(found), note=", ".join(found[:SHOWN]))


def folded(rows: Iterable[Row]) -> list[Row]:
    """Return a row for all samples of a codec that are right, or alike not measured; the others."""
    alike: dict[tuple[str, float | None, str], list[Row]] = {}
    wrong = []
    for row in rows:
        if row.value:
            wrong.append(row)
        else:
            alike.setdefault((row.what.partition(" ")[0], row.value, row.why), []).append(row)
    by_group = sorted(alike.items(), key=lambda item: (item[0][0], item[0][1] is None, item[0][2]))
    return wrong + [
        replace(some[0], what=f"{group}, {len(some)} samples") for (group, _, _), some in by_group
    ]
