"""Individuals of samples: one per sample, or assigned by a table."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.text import read_decompressed_text

# column names in metadata: our own, those of VDJtools (whose header begins with #), of AIRR
SAMPLE = ("sample", "sample_id", "repertoire_id", "sample_name")
INDIVIDUAL = ("individual", "subject_id", "subject", "donor", "donor_id", "patient", "patient_id")


@dataclass(frozen=True)
class Individuals:
    """Individuals and their samples.

    Attributes
    ----------
    samples : distinct names; a name in two stores is one sample
    names : names of the individuals, in the order of their first sample
    of_sample : for each sample, the index of its individual
    """

    samples: tuple[str, ...]
    names: tuple[str, ...]
    of_sample: tuple[int, ...]


def individuals(samples: Sequence[str], table: Path | None = None) -> Individuals:
    """Return the individuals of samples.

    Parameters
    ----------
    samples : names, possibly repeated
    table : TSV or CSV file with a header, and columns of SAMPLE and INDIVIDUAL; of several sample
        columns the first with all samples wins. None makes each sample an individual

    Raises
    ------
    BadParams : the file is no table, lacks a sample or assigns one to two individuals
    """
    unique = tuple(dict.fromkeys(samples))
    owners = (
        dict(zip(unique, unique, strict=True)) if table is None else read_individuals(table, unique)
    )
    if absent := [sample for sample in unique if sample not in owners]:
        more = f" and {len(absent) - 1} more" if absent[1:] else ""
        raise BadParams(f"{table} has no individual for sample {absent[0]!r}{more}")
    names = tuple(dict.fromkeys(owners[sample] for sample in unique))
    number = {name: i for i, name in enumerate(names)}
    return Individuals(unique, names, tuple(number[owners[sample]] for sample in unique))


def read_individuals(path: Path, samples: Sequence[str] = ()) -> dict[str, str]:
    """Return the individual of each sample in a table."""
    try:
        lines = read_decompressed_text(path).splitlines()
    except BadParams as error:
        raise BadParams(f"{path} is no table of samples and individuals: {error}") from None
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
