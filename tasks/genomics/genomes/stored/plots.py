"""Figure of a store of genomes: bits per residue along the genome, with its largest records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console.output import size
from gangsaw.tasks.genomics.genomes.files.file_parts import first_word
from gangsaw.tasks.genomics.genomes.info import GenomeInfo
from gangsaw.tasks.genomics.genomes.stored.report import RESIDUE_ARRAYS
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.jobs.figures.bits import BitMap
from gangsaw.tasks.jobs.figures.colours import ACCENT, INK, SOFT
from gangsaw.tasks.jobs.figures.plots import (
    draw_blocks,
    draw_mean,
    draw_steps,
    label_axes,
    scaled_edges,
    title,
)
from gangsaw.tasks.jobs.figures.report import ArrayInfo, describe
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_RECORDS = 1 << 16  # records whose borders are read; genomes of more have no borders drawn
MAX_BORDERS = 200  # more lines would cover the plot
MAX_NAMES = 12  # records that are named, the largest first
NAMED_SHARE = 0.02  # least share of the genome of a record that is named
NAME_LENGTH = 18  # characters of a name
PACKED = 2.0  # bits of a base without compression


def draw_genome(info: ArrayInfo, array: ZarrArray, source: ZarrSource) -> Figure:
    """Draw the bits per residue along a genome, or the bytes of each array of a collection."""
    from matplotlib.figure import Figure

    genome = GenomeInfo.from_attrs(source.attrs)
    arrays = {one.name: one for one in describe(source.name).arrays}
    if genome is None:
        return draw_blocks(info)
    if genome.samples:
        return _draw_collection(genome, arrays)
    residues = arrays.get("sequence", info)
    bits = residues.block_bits or residues.chunk_bits
    if bits is None:
        return draw_blocks(info)
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    axes = figure.add_subplot()
    _draw_along(axes, bits, residues)
    _draw_records(axes, bits, StoredGenome(source.arrays, source.attrs))
    figure.suptitle(title(residues), x=0.01, ha="left", color=INK, fontsize=12)
    return figure


def _draw_along(axes: Axes, bits: BitMap, residues: ArrayInfo) -> None:
    edges, unit = scaled_edges(bits.edges[0], "b")
    draw_steps(axes, bits.bits, edges)
    draw_mean(axes, residues.bits_per_sample, f"mean {residues.bits_per_sample:.2f}")
    axes.axhline(PACKED, color=INK, lw=0.8, ls=":")
    part = "block" if residues.block_bits else "chunk"
    text = f"bits per base of each {part}; dotted: {PACKED:.0f} bits, a base without compression"
    axes.set_title(text, fontsize=10, color=INK, loc="left", pad=20)
    axes.set_ylim(0, 1.08 * max(PACKED, float(bits.bits.max())))
    label_axes(axes, "bits/base", f"position in the genome, {unit}")


def _draw_records(axes: Axes, bits: BitMap, genome: StoredGenome) -> None:
    """Draw the borders of records, and the names of the largest ones above the plot."""
    if not 0 < genome.n_records <= MAX_RECORDS:
        return
    offsets = genome.starts(0, genome.n_records).astype(np.int64)
    places, _ = scaled_edges(np.append(offsets, bits.edges[0][-1]), "")
    inner = places[1 : genome.n_records]
    if len(inner) <= MAX_BORDERS:
        for border in inner:
            axes.axvline(border, color=INK, lw=0.6, alpha=0.7)
    above = axes.get_xaxis_transform()
    for record in named_records(offsets):
        middle = (places[record] + places[record + 1]) / 2
        name = _name(genome, record)
        axes.text(middle, 1.01, name, transform=above, ha="center", fontsize=8, color=INK)


def named_records(offsets: NDArray[np.int64]) -> list[int]:
    """Return the records to name, in their order: the largest that are wide enough for a name.

    Parameters
    ----------
    offsets : (records + 1,) offsets in residues
    """
    lengths = np.diff(offsets)
    largest = np.argsort(-lengths, kind="stable")[:MAX_NAMES]
    least = NAMED_SHARE * max(1, int(offsets[-1]))
    return sorted(int(record) for record in largest if lengths[record] >= least)


def _name(genome: StoredGenome, record: int) -> str:
    head = genome.heads(record, record + 1)[0].tobytes()
    name = first_word(head).decode("utf-8", "backslashreplace")
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


def _draw_collection(genome: GenomeInfo, arrays: Mapping[str, ArrayInfo]) -> Figure:
    """Draw the stored bytes of each kind of array of a collection, and the sizes of its genomes."""
    from matplotlib.figure import Figure

    stored: dict[str, int] = {}
    for path, array in arrays.items():
        name = path.rpartition("/")[2]
        stored[name if name in RESIDUE_ARRAYS else "names and layout"] = (
            stored.get(name if name in RESIDUE_ARRAYS else "names and layout", 0)
            + array.stored_bytes
        )
    if not any(stored.values()):
        raise BadParams("the collection holds no bytes: there is nothing to plot")
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    names = sorted(stored, key=lambda name: stored[name])
    left.barh(names, [stored[name] for name in names], color=ACCENT)
    for row, name in enumerate(names):
        bits = 8 * stored[name] / max(1, genome.residues)
        text = f" {size(stored[name])}, {bits:.3f} bits/base"
        left.text(stored[name], row, text, fontsize=8, va="center", color=INK)
    left.set_xlim(0, 1.7 * max(stored.values()))  # space for the labels
    left.set_xticks([])
    left.set_title("bytes in the store", fontsize=10, color=INK, loc="left")
    label_axes(left, "array", "bytes")
    return _with_genomes(figure, right, genome, sum(stored.values()))


def _with_genomes(figure: Figure, axes: Axes, genome: GenomeInfo, stored: int) -> Figure:
    from matplotlib.ticker import MaxNLocator

    residues = np.array([sample.residues for sample in genome.samples])
    edges, unit = scaled_edges(np.array([0, residues.max()]), "b")
    scale = residues.max() / edges[-1] if edges[-1] else 1.0
    axes.bar(np.arange(1, len(residues) + 1), residues / scale, color=SOFT, edgecolor=INK, lw=0.4)
    axes.set_title("length of each genome", fontsize=10, color=INK, loc="left")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    label_axes(axes, f"residues, {unit}", "genome of the collection")
    axes.spines[["top", "right"]].set_visible(False)
    n, bits = len(residues), 8 * stored / max(1, genome.residues)
    text = f"{n} genomes, {genome.residues:,} residues, {bits:.3f} bits/base"
    figure.suptitle(text, x=0.01, ha="left", color=INK, fontsize=12)
    return figure
