"""Contents of a counts store in Zarr: arrays, coordinates and attributes.

Text has Zarr's type `string`: fixed-width types have no specification in format 3, and readers warn
about them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from zarr.codecs import BloscCodec
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.sources.source import Coordinate, Described
from gangsaw.tasks.store.arrays.layout import ArrayLayout
from gangsaw.tasks.store.skeleton import build_objects
from gangsaw.tasks.tcr.counting.paths.dataset import (
    N_DIM,
    P_DIM,
    TOTAL_DIM,
    coordinates,
    describe_model,
)
from gangsaw.tasks.tcr.germline import Part, d_pairs_with_j
from gangsaw.tasks.tcr.germline.genotypes.genotypes import Region
from gangsaw.tasks.tcr.repertoire.cleaning.row_counts import sum_row_counts
from gangsaw.tasks.tcr.repertoire.inputs import Input
from gangsaw.tasks.tcr.repertoire.reasons import ORDER
from gangsaw.tasks.tcr.store.chunk import Chunk
from gangsaw.tasks.tcr.store.setup import Setup
from gangsaw.tasks.tcr.store.staging import FileRows, pieces_of

TEXT = cast("Dtype", np.dtypes.StringDType())
CODEC = BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
FIRST = "cdr3"  # variable whose folder has the journal and the staging

# (name, dtype, units, description) of the variables of a row, except its counts
ROW_VARIABLES: tuple[tuple[str, Dtype, str, str], ...] = (
    (FIRST, TEXT, "nucleotide", "CDR3 between the codons of the conserved Cys and Phe or Trp"),
    ("id", TEXT, "", "Name of the row in its file; empty where it has none"),
    ("v_index", np.dtype("int32"), "1", "V gene: place along v_gene, from 0"),
    ("j_index", np.dtype("int32"), "1", "J gene: place along j_gene, from 0"),
    ("sample_index", np.dtype("int32"), "1", "Sample: place along sample, from 0"),
    ("copies", np.dtype("int64"), "1", "Reads or cells that the row stands for"),
    ("line", np.dtype("int64"), "1", "Line in the file, from 1; row in a Parquet file"),
)
# names for each row, so that it can be grouped by them
NAME_VARIABLES: tuple[tuple[str, str], ...] = (
    ("v_call", "V gene, as its germline has it"),
    ("j_call", "J gene, as its germline has it"),
    ("sample_id", "Sample"),
)
D_CALL = ("d_call", "D gene of d_index; empty where none matches")
# descriptions of dimension labels
LABELS = {
    "d_gene": "D gene, as its germline has it",
    "d_pair": "D genes in a row, the one beside V first",
    N_DIM: "Most n-nucleotides of each junction",
    P_DIM: "Longest palindrome at a gene end, in nucleotides",
    TOTAL_DIM: "n-nucleotides of all junctions together",
    "nucleotide": "Nucleotide",
    "sample": "Sample, in the order of the files",
    "v_gene": "V gene, as its germline has it",
    "j_gene": "J gene, as its germline has it",
    "outcome": "What became of a row: kept, or why it was dropped",
}
VALID_LABEL = "kept"
_OUTCOMES = {"units": "1", "description": "Rows of the files that were kept, or dropped and why"}
_LENGTHS = {"units": "nucleotide", "description": "Length of the germline D gene"}
_SEQUENCES = {
    "units": "nucleotide",
    "description": "Germline part counted with: V after its Cys codon, J before its Phe or "
    "Trp codon, D whole",
}
_HAS = {"description": "Whether the donor of the sample has the allele; others do not count"}
_PAIRS = {"description": "Whether the D gene lies before the J gene, so that they can be joined"}


@dataclass(frozen=True)
class Contents:
    """Contents of a counts store to write: its variables, coordinates, attributes and chunks.

    Attributes
    ----------
    inputs, setup : inputs and setup of the job
    files : result of reading each input
    """

    inputs: Sequence[Input]
    setup: Setup
    files: Sequence[FileRows]

    @property
    def n(self) -> int:
        """Number of references."""
        return sum(file.n_staged for file in self.files)

    @property
    def samples(self) -> dict[str, int]:
        """Index of each sample by name, in the order of first appearance."""
        names = dict.fromkeys(name for file in self.files for name in file.samples)
        return {name: number for number, name in enumerate(names)}

    def arrays(self) -> tuple[Described, ...]:
        """Return the variables along `reference`, in the order of their records."""
        labels = {c.name: len(c.values) for c in self.coordinates()}
        of_counts = ((v.name, np.dtype(v.dtype), v.dims, v.attrs) for v in self.setup.variables)
        names = ((name, TEXT, "", text) for name, text in self.name_variables)
        own = (
            (name, dtype, ("reference",), {"units": unit, "description": text})
            for name, dtype, unit, text in (*ROW_VARIABLES, *names)
        )
        extents = {"reference": self.n, **labels}
        return tuple(
            _described(name, dtype, dims, attrs, extents, self.chunk_rows)
            for name, dtype, dims, attrs in (*own, *of_counts)
        )

    @property
    def name_variables(self) -> tuple[tuple[str, str], ...]:
        """Names and descriptions of the coordinates along `reference`."""
        return (*NAME_VARIABLES, *((D_CALL,) if self.setup.germline.d else ()))

    @property
    def chunk_rows(self) -> int:
        """References of a chunk, at most the number of references."""
        return max(1, min(self.setup.chunk_rows, self.n))

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Return the coordinates of all dimensions but `reference`, and variables along these."""
        germline = self.setup.germline
        d, j = [part.name for part in germline.d], [part.name for part in germline.j]
        labels: dict[str, Sequence[str] | NumpyArray] = {
            **coordinates(self.setup.model, d),
            **({"d_gene": d} if d else {}),
            "v_gene": [part.name for part in germline.v],
            "j_gene": j,
            "sample": list(self.samples),
            "outcome": [VALID_LABEL, *ORDER],
        }
        found = [
            Coordinate(name, (name,), _label(values), {"description": LABELS[name]})
            for name, values in labels.items()
        ]
        found += [
            Coordinate(f"{gene}_sequence", (f"{gene}_gene",), _sequences(parts), _SEQUENCES)
            for gene, parts in (("v", germline.v), ("d", germline.d), ("j", germline.j))
            if parts
        ]
        found.append(Coordinate("sample_rows", ("sample", "outcome"), self._outcomes(), _OUTCOMES))
        found += self._genotypes()
        if d:
            pairs = np.asarray(d_pairs_with_j(d, j), bool)
            found.append(Coordinate("d_pairs_with_j", ("d_gene", "j_gene"), pairs, _PAIRS))
            lengths = np.array([len(part.sequence) for part in germline.d], np.int16)
            found.append(Coordinate("d_gene_length", ("d_gene",), lengths, _LENGTHS))
        return tuple(found)

    def _genotypes(self) -> Iterator[Coordinate]:
        """Yield the parts of each sample's donor as boolean coordinates, if genotypes are known."""
        if (genotypes := self.setup.genotypes) is None:
            return
        germline = self.setup.germline
        regions: tuple[tuple[Region, Sequence[Part]], ...] = (
            ("V", germline.v),
            ("D", germline.d),
            ("J", germline.j),
        )
        for region, parts in regions:
            if parts:
                has = genotypes.has(list(self.samples), region, len(parts))
                name = region.lower()
                yield Coordinate(f"sample_has_{name}", ("sample", f"{name}_gene"), has, _HAS)

    def _outcomes(self) -> NDArray[np.int64]:
        """Return the kept rows, and dropped rows by reason, of each sample, (samples, outcomes)."""
        total, samples = sum_row_counts(file.tally for file in self.files), self.samples
        place = {reason: i for i, reason in enumerate(("", *ORDER))}
        table = np.zeros((len(samples), len(place)), np.int64)
        for (sample, reason), n in total.rows.items():
            table[samples[sample], place[reason]] = n
        return table

    def attrs(self) -> dict[str, object]:
        """Return the attributes of the store: texts, numbers and flat lists, as NetCDF requires."""
        files, dropped = self.files, self.dropped
        return {
            **describe_model(self.setup.model),
            "coordinates": " ".join(name for name, _ in self.name_variables),  # xarray consumes it
            **self.setup.attrs(),
            "input_files": [file.name for file in self.inputs],
            "input_rows": [file.rows for file in files],
            "input_kept": [file.n_staged for file in files],
            "input_formats": [file.format for file in files],
            "input_notes": self._notes(),
            "input_problems": [file.problem for file in files if file.problem],
            "dropped_reasons": list(dropped),
            "dropped_rows": list(dropped.values()),
        }

    def _notes(self) -> list[str]:
        pairs = zip(self.inputs, self.files, strict=True)
        found = [f"{file.name}: {note}" for file, found in pairs for note in found.notes]
        genotypes = self.setup.genotypes
        if genotypes and (others := [s for s in genotypes.samples if s not in self.samples]):
            found.append(f"{genotypes.source}: no file has sample {', '.join(others)}")
        return found

    @property
    def dropped(self) -> dict[str, int]:
        """Number of dropped rows by reason."""
        total = sum_row_counts(file.tally for file in self.files)
        return {reason: total.total(reason) for reason in total.reasons}

    def chunks(self, piece_rows: int) -> list[Chunk]:
        """Return the chunks along `reference`, each with the staged pieces of its rows."""
        step, n = self.chunk_rows, self.n
        kept, samples = [file.n_staged for file in self.files], self.samples
        numbers = [tuple(samples[name] for name in file.samples) for file in self.files]
        rows = [range(first, min(first + step, n)) for first in range(0, n, step)]
        return [
            Chunk(i, len(some), pieces_of(some, kept, numbers, piece_rows))
            for i, some in enumerate(rows)
        ]

    def objects(self) -> Mapping[str, Buffer]:
        """Return all objects of the store but the chunks along `reference`, by key."""
        arrays = self.arrays()
        layouts = {array.name: ArrayLayout(array.chunks or (), CODEC) for array in arrays}
        name = "the counts"
        return build_objects(name, arrays, self.coordinates(), self.attrs(), layouts)


def nbytes(array: Described) -> int:
    """Return the uncompressed size of an array in bytes; for text, without the characters."""
    return math.prod(array.shape) * array.dtype.itemsize


def _described(
    name: str,
    dtype: Dtype,
    dims: tuple[str, ...],
    attrs: Mapping[str, object],
    extents: Mapping[str, int],
    chunk_rows: int,
) -> Described:
    shape = tuple(extents[dim] for dim in dims)
    plain = {key: value for key, value in attrs.items() if value}
    return Described(
        name=name,
        shape=shape,
        dtype=dtype,
        dims=dims,
        chunks=(chunk_rows, *shape[1:]),
        attrs=plain,
    )


def _sequences(parts: Sequence[Part]) -> NumpyArray:
    return np.array([part.sequence for part in parts], TEXT)


def _label(values: Sequence[str] | NumpyArray) -> NumpyArray:
    is_text = not isinstance(values, np.ndarray) or values.dtype.kind == "U"
    return np.array(values, TEXT) if is_text else np.asarray(values)
