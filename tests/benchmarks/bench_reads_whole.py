"""Whole stores of reads in every order: what parts take, and what an order could save at most."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from math import lgamma, log
from pathlib import Path

import zarr
from bench_reads import SETS

import gangsaw
from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.genomics.reads.files.settings import ORDERS, PLACED

PARTS = ("sequence", "quality", "name")


def rows() -> Iterator[Row]:
    """Yield the bytes of each set's store in every order; none without the shared folder."""
    folder = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/genomes/reads"
    if not folder.is_dir():
        return
    for name, one in SETS.items():
        say(name)
        paths = [str(folder / f"{file}.fastq.gz") for file in one.files]
        yield from _orders(f"{name}{', pairs' if len(paths) > 1 else ''}", paths)
        if len(paths) > 1:
            yield from _orders(f"{name}, first mates", paths[:1])


def _orders(name: str, paths: list[str]) -> Iterator[Row]:
    """Yield the stores of some files, which are compared with these."""
    found: dict[str, Mapping[str, int]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for order in ORDERS:
            store = Path(scratch, order)
            found[order] = gangsaw.compress(paths, store, order=order).array_bytes
            assert gangsaw.verify(store, against=paths).ok
            about = zarr.open_group(store, mode="r").attrs["gangsaw_reads"]
            groups = about["records"] // len(paths)
            yield _row(name, order, found, groups, about.get("tried", {}))


def _row(
    name: str,
    order: str,
    found: Mapping[str, Mapping[str, int]],
    groups: int,
    tried: Mapping[str, int],
) -> Row:
    totals = {which: sum(sizes.values()) for which, sizes in found.items()}
    own, kept = found[order], found["kept"]
    shares = ", ".join(f"{part}s {100 * own[part] / totals[order]:.1f} %" for part in PARTS)
    notes = [shares.replace("qualitys", "qualities")]
    if order in PLACED:
        more, less = own["name"] - kept["name"], kept["sequence"] - own["sequence"]
        all_orders = lgamma(groups + 1) / log(2) / 8
        changes = f"names {more / 1e3:+.1f} kB, sequences {-less / 1e3:+.1f}"
        notes.append(f"{changes}, orders {all_orders / 1e3:.1f}")
    if order != "kept":
        notes.insert(0, f"{100 * (totals[order] / totals['kept'] - 1):+.2f} %")
    notes += [f"order {which}" for which in tried]
    target = f"<= {min(totals.values()) / 1e6:.7g}" if order == "smallest" else ""
    figures = {part: float(n) for part, n in own.items()}
    return Row(f"{name}, {order}", totals[order] / 1e6, "MB", target, "; ".join(notes), figures)
