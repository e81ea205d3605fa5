"""Genome that is searched: overlapping parts of its bases, each with an index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import CorruptChunk, JobFailed
from gangsaw.tasks.genomics.align.job.bundle import map_arrays
from gangsaw.tasks.genomics.align.search.search import SearchText
from gangsaw.tasks.genomics.align.search.seeds.index import PlaceIndex, build_seed_index
from gangsaw.tasks.genomics.align.search.seeds.minimizers import Seeds
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places, sequences_of
from gangsaw.tasks.genomics.genomes.stored.export import open_stored_genome
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs
from gangsaw.tasks.store.source import open_zarr


@dataclass(frozen=True)
class GenomeText:
    """Names and offsets of the records of a stored genome that queries are aligned with.

    Attributes
    ----------
    path : path of the store
    names : names of its records
    starts : (n + 1,) int64, offsets of the records in the concatenated bases
    identity : fingerprint of the store's content
    """

    path: str
    names: tuple[str, ...]
    starts: Places
    identity: str

    @property
    def residues(self) -> int:
        """Number of bases of all records."""
        return int(self.starts[-1])

    @property
    def lengths(self) -> Places:
        """Number of bases of each record, (n,) int64."""
        return np.diff(self.starts)


def open_genome(path: str) -> GenomeText:
    """Open the genome of a store; raise BadParams if it has none."""
    source = open_zarr(path)
    stored = open_stored_genome(source)
    names = tuple(name.decode("utf-8", "backslashreplace") for name in stored.names())
    starts = stored.starts(0, stored.n_records)
    return GenomeText(path, names, starts, source.identity())


@dataclass(frozen=True)
class GenomeParts:
    """Partition of a genome into overlapping ranges, each with its own index.

    Attributes
    ----------
    residues : bases of all records
    letters : bases of a part
    overlap : bases of either neighbour that a part includes
    """

    residues: int
    letters: int = 1 << 25
    overlap: int = 1 << 14

    def __len__(self) -> int:
        """Return the number of parts."""
        return max(1, -(-self.residues // self.letters))

    def window(self, part: int) -> tuple[int, int]:
        """Return the genome offsets, begin and end, of a part with its overlaps."""
        begin = part * self.letters
        end = min(begin + self.letters + self.overlap, self.residues)
        return max(0, begin - self.overlap), end


@lru_cache(maxsize=2)
def _stored(path: str, identity: str) -> StoredGenome:
    return open_stored_genome(open_zarr(path))


def check_unchanged(genome: GenomeText) -> None:
    """Raise JobFailed if a genome changed, and clear the cache of its store."""
    if open_zarr(genome.path).identity() != genome.identity:
        _stored.cache_clear()
        raise JobFailed(f"{genome.path} changed while its index was made")


def indexed(genome: GenomeText, window: tuple[int, int], seeds: Seeds) -> dict[str, NumpyArray]:
    """Return a range of a genome as arrays by name: base codes, record offsets, minimizer index."""
    begin, end = window
    codes = load_codes(genome, begin, end)
    index = build_seed_index(codes, seeds)
    first = int(np.searchsorted(genome.starts, begin, "right")) - 1
    last = int(np.searchsorted(genome.starts, end, "left"))
    records = genome.starts[first : last + 1].clip(begin, end) - begin
    own = np.array([begin, first, index.shift], np.int64)
    arrays = {"codes": codes, "records": records, "own": own}
    return {**arrays, "entries": index.entries, "starts": index.starts}


def load_codes(genome: GenomeText, begin: int, end: int) -> Codes:
    """Read bases begin..end - 1 of a genome as codes."""
    letters = _stored(genome.path, genome.identity).read_residues(begin, end)
    return sequences_of([letters]).codes


@dataclass(frozen=True, eq=False)
class IndexedPart:
    """Part of a genome, ready to be searched.

    Attributes
    ----------
    target : bases, records and minimizer index of the part
    begin : offset of its first base in the genome
    first : index of its first record
    """

    target: SearchText
    begin: int
    first: int


@lru_cache(maxsize=2)  # workers take the batches of one part after the other
def load_part(parts: StepOutputs, number: int) -> IndexedPart:
    """Load an indexed part of a genome; raise CorruptChunk if its file's checksum differs."""
    path, manifest = parts.path(number), parts.manifest()
    if manifest is None or crc32c(path.read_bytes()) != manifest.rows["crc32c"][number]:
        raise CorruptChunk(f"{path} is damaged: remove {parts.folder}, the next job makes it anew")
    arrays = map_arrays(path)
    begin, first, shift = (int(number) for number in arrays["own"])
    entries = cast(npt.NDArray[np.uint64], arrays["entries"])
    table = PlaceIndex(entries, cast(npt.NDArray[np.uint32], arrays["starts"]), shift)
    codes, records = cast(Codes, arrays["codes"]), cast(Places, arrays["records"])
    return IndexedPart(SearchText(codes, records, table), begin, first)
