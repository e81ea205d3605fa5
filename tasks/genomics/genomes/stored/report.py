"""Report of `gangsaw info` for a store of genomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.genomes.info import COLLECTION, PLAIN, GenomeInfo
from gangsaw.tasks.jobs.figures.contents import Content
from gangsaw.tasks.jobs.figures.report import StoreInfo

FILES = {
    "genome": "FASTA",
    COLLECTION: "FASTA",
}  # displayed names of formats, if different
# arrays that encode residues; all except the first are those of collections
RESIDUE_ARRAYS = ("sequence", "known", "piece", "edit", "bundle", "other", "lower")
MOST_RESIDUES = 6  # residues in a message


def read_genome_content(info: StoreInfo) -> Content:
    """Return the description of a genome store for `gangsaw info`.

    Raises BadParams if its attribute is wrong.
    """
    genome = GenomeInfo.from_attrs(info.source.attrs)
    if genome is None:
        raise BadParams(f"{info.store} holds no genome")
    stored = {array.name: array.stored_bytes for array in info.arrays}
    n, strong, bases = genome.residues, genome.count("GCSgcs"), genome.count(PLAIN)
    figures = {
        **genome.to_dict(),
        "residues": n,
        "gc": strong / max(1, bases),
        "n": genome.count("Nn") / max(1, n),
        "lower_case": genome.count("".join(filter(str.islower, genome.letters))) / max(1, n),
        "bits_per_base": 8 * _sum_residue_bytes(stored) / max(1, n),
        "stored": stored,
    }
    return Content("genome", tuple(_rows(genome, figures)), figures)


def _sum_residue_bytes(stored: Mapping[str, int]) -> int:
    """Return the bytes of all residue arrays, with added genomes, from `stored` bytes by array."""
    return sum(n for name, n in stored.items() if name.rpartition("/")[2] in RESIDUE_ARRAYS)


def _rows(genome: GenomeInfo, figures: dict[str, object]) -> Iterator[tuple[str, str]]:
    if genome.samples:
        yield "genomes", f"{len(genome.samples):,}"
    yield "records", f"{genome.records:,} of {FILES.get(genome.format, genome.format)}"
    yield "residues", f"{genome.residues:,}{_others(genome)}"
    for name, key in (("GC", "gc"), ("N", "n"), ("lower case", "lower_case")):
        yield name, f"{100 * float(str(figures[key])):.2f} %"
    yield "bits/residue", f"{float(str(figures['bits_per_base'])):.3f}"


def _others(genome: GenomeInfo) -> str:
    """Return the counts of residues that are neither bases nor N, the most frequent first."""
    found = {x: n for x, n in genome.letters.items() if x not in f"{PLAIN}Nn"}
    several = sorted(found.items(), key=lambda item: -item[1])
    listed = ", ".join(f"{count:,} {letter}" for letter, count in several[:MOST_RESIDUES])
    return f"; not ACGTN: {listed}{', ...' if several[MOST_RESIDUES:] else ''}" if listed else ""
