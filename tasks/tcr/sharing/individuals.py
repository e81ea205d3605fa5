"""Which individual a sample is from: each sample has its own, or a table joins those of a donor."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams

COLUMNS = ("sample", "individual")


@dataclass(frozen=True)
class Individuals:
    """The individuals and their samples.

    Attributes
    ----------
    samples : names, each once; a name in two stores is one sample
    names : of the individuals, in the order of their first sample
    of_sample : for each sample the number of its individual
    """

    samples: tuple[str, ...]
    names: tuple[str, ...]
    of_sample: tuple[int, ...]


def individuals(samples: Sequence[str], table: Path | None = None) -> Individuals:
    """Return the individuals of some samples.

    Parameters
    ----------
    samples : their names, maybe repeated
    table : file with a header and the columns `sample` and `individual`, tabs or commas between;
        None makes each sample an individual

    Raises
    ------
    BadParams : the table is none, lacks a sample or gives one to two individuals
    """
    unique = tuple(dict.fromkeys(samples))
    owners = dict(zip(unique, unique, strict=True)) if table is None else read_table(table)
    if absent := [sample for sample in unique if sample not in owners]:
        more = f" and {len(absent) - 1} more" if absent[1:] else ""
        raise BadParams(f"{table} has no individual for sample {absent[0]!r}{more}")
    names = tuple(dict.fromkeys(owners[sample] for sample in unique))
    number = {name: i for i, name in enumerate(names)}
    return Individuals(unique, names, tuple(number[owners[sample]] for sample in unique))


def read_table(path: Path) -> dict[str, str]:
    """Return the individual of each sample that a table names."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
        raise BadParams(f"{path} is no table of samples and individuals") from None
    rows = csv.reader(lines, delimiter="\t" if lines and "\t" in lines[0] else ",")
    header = next(rows, [])
    if absent := [name for name in COLUMNS if name not in header]:
        raise BadParams(f"{path} has no column {absent[0]!r}: it needs sample and individual")
    at_sample, at_individual = (header.index(name) for name in COLUMNS)
    owners: dict[str, str] = {}
    for line, row in enumerate(rows, 2):
        if not any(row):
            continue
        if len(row) <= max(at_sample, at_individual) or not row[at_individual]:
            raise BadParams(f"{path}, line {line}: no individual")
        sample, owner = row[at_sample], row[at_individual]
        if owners.setdefault(sample, owner) != owner:
            raise BadParams(f"{path}, line {line}: sample {sample!r} belongs to two individuals")
    return owners
