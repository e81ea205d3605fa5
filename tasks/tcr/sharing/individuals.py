"""Which individual a sample is from: each sample has its own, or a table joins those of a donor."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams

# what tables of metadata call them: our own, VDJtools' (its header begins with #), AIRR's
SAMPLE = ("sample", "sample_id", "repertoire_id", "sample_name")
INDIVIDUAL = ("individual", "subject_id", "subject", "donor", "donor_id", "patient", "patient_id")


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
    table : file with a header, tabs or commas between, and columns of SAMPLE and INDIVIDUAL: of
        several that are there the first which names all samples; None makes each sample one

    Raises
    ------
    BadParams : the table is none, lacks a sample or gives one to two individuals
    """
    unique = tuple(dict.fromkeys(samples))
    owners = dict(zip(unique, unique, strict=True)) if table is None else read_table(table, unique)
    if absent := [sample for sample in unique if sample not in owners]:
        more = f" and {len(absent) - 1} more" if absent[1:] else ""
        raise BadParams(f"{table} has no individual for sample {absent[0]!r}{more}")
    names = tuple(dict.fromkeys(owners[sample] for sample in unique))
    number = {name: i for i, name in enumerate(names)}
    return Individuals(unique, names, tuple(number[owners[sample]] for sample in unique))


def read_table(path: Path, samples: Sequence[str] = ()) -> dict[str, str]:
    """Return the individual of each sample that a table names."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
        raise BadParams(f"{path} is no table of samples and individuals") from None
    rows = csv.reader(lines, delimiter="\t" if lines and "\t" in lines[0] else ",")
    header = [name.strip().removeprefix("#").lower() for name in next(rows, [])]
    at_samples, at_individuals = (
        [header.index(name) for name in names if name in header] for names in (SAMPLE, INDIVIDUAL)
    )
    if not at_samples or not at_individuals:
        lacks = INDIVIDUAL if at_samples else SAMPLE
        raise BadParams(f"{path} has no column {lacks[0]!r}, nor {', '.join(lacks[1:])}")
    table = [(line, row) for line, row in enumerate(rows, 2) if any(row)]
    named = [at for at in at_samples if {row[at] for _, row in table if row[at:]} >= set(samples)]
    return _owners(path, table, (named or at_samples)[0], at_individuals[0])


def _owners(
    path: Path, rows: Sequence[tuple[int, list[str]]], at_sample: int, at_individual: int
) -> dict[str, str]:
    owners: dict[str, str] = {}
    for line, row in rows:
        if len(row) <= max(at_sample, at_individual) or not row[at_individual]:
            raise BadParams(f"{path}, line {line}: no individual")
        sample, owner = row[at_sample], row[at_individual]
        if owners.setdefault(sample, owner) != owner:
            raise BadParams(f"{path}, line {line}: sample {sample!r} belongs to two individuals")
    return owners
