"""Disk space that an order needs: estimated from the start of the files, reported before."""

from __future__ import annotations

import io
import logging
import shutil
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import open_text
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.records import Mates
from gangsaw.tasks.genomics.reads.order.groups import compress_segments, measure_groups, pack_groups
from gangsaw.tasks.genomics.reads.order.intake import needed

log = logging.getLogger(__name__)

SAMPLE = 1 << 24  # bytes of text from which the rest is estimated
COPIES = 2  # copies of all records at a time: input and output of a step
TRIED = 1  # one more copy if the order of the input is a candidate
MARGIN = 1.25  # for bins and edges, and for files with an untypical start
BUFFER = 1 << 16
WARNED_BYTES = 1 << 30  # bytes of scratch space that cause a warning


def check_scratch_space(source: ReadInput, folder: Path) -> None:
    """Report the disk space that ordering reads needs; raise BadParams if there is less.

    The size of pipes is unknown.
    """
    there = next(parent for parent in folder.absolute().parents if parent.is_dir())
    if not source.is_repeatable:
        log.info("%s: order needs twice the compressed records in %s", source.name, there)
        return
    need, free = scratch_bytes(source), shutil.disk_usage(there).free + _bytes_of(folder)
    text = f"{source.name}: --order {source.settings.order} needs about {_size(need)} of scratch"
    if need > free:
        raise BadParams(
            f"{text}: {there} has {_size(free)}: make room there, or name another folder by "
            "--scratch"
        )
    log.log(
        logging.WARNING if need > WARNED_BYTES else logging.INFO,
        "%s in %s (%s free)",
        text,
        there,
        _size(free),
    )


def scratch_bytes(source: ReadInput) -> int:
    """Estimate the bytes of scratch space that ordering the reads of files needs."""
    sample: list[Mates] = []
    text = 0
    for mates in needed(source, source.files()):
        sample.append(mates)
        text += int(measure_groups(mates)[1].sum())
        if text >= SAMPLE:
            break
    if not text:
        return 0
    n = sum(len(mates[0]) for mates in sample)
    none = np.zeros(n, np.int64)
    stored, _ = compress_segments(
        [pack_groups(sample, np.zeros((n, len(sample[0])), np.uint8), none, none)]
    )
    whole = sum(map(text_bytes, source.paths))
    copies = COPIES + TRIED * (source.settings.order == "smallest")
    return int(copies * MARGIN * whole * len(stored) / text)


def text_bytes(path: str) -> float:
    """Estimate a file's bytes of decompressed text, by decompressing its start."""
    with io.FileIO(path) as raw, open_text(io.BufferedReader(raw, BUFFER), path) as file:
        n = len(file.read(SAMPLE))
        taken = raw.tell()
    return n * Path(path).stat().st_size / max(1, taken)


def _bytes_of(folder: Path) -> int:
    """Return the bytes of all files in a folder and its subfolders."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _size(n: float) -> str:
    return f"{n / 1e9:.1f} GB" if n >= 1e8 else f"{n / 1e6:.1f} MB"
