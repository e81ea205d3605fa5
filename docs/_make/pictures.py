"""Pictures of the documentation, from seeded data and from committed results of benchmarks.

`python docs/_make/pictures.py` writes `docs/_static/pictures/`, with the numbers behind each
picture in a JSON file of its name; names of pictures after it write only these. With `--check` it
makes the pictures again in a temporary folder, and compares the numbers with the committed ones.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import ratios
import seeded_data
from diagrams import Segment, Window, draw_costs, draw_dots, draw_hits, draw_window

import gangsaw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = ratios.PICTURES
COLOURS = 128  # of a PNG file's palette
PATTERNS = ("login.php", '" 503 ', "connection reset")
HIT_PARTS = 96
NEAR = 1e-3  # relative difference of numbers that a check accepts: libraries round differently
Numbers = dict[str, object]


def save_png(figure: Figure, path: Path, dpi: int = 110) -> None:
    """Write a figure as a PNG file with a palette."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    save_pixels(pixels, path)


def save_pixels(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], path: Path) -> None:
    """Write pixels (rows, columns, 3) as a PNG file with a palette."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def rounded(values: object, digits: int = 4) -> object:
    """Return an array as lists of rounded numbers."""
    return np.round(np.asarray(values, np.float64), digits).tolist()


@lru_cache(maxsize=1)
def scene(work: Path) -> Path:
    """Return the store of the demonstration's scene."""
    from gangsaw.tasks.hyperspectral.commands.demo import tiles, write_demo_scene

    folder, extents = work / "demo", (96, 512, 512)
    folder.mkdir()
    source = write_demo_scene(folder, extents)
    gangsaw.compress(source, folder / "scene.zarr", chunks=tiles(extents))
    return folder / "scene.zarr"


def demo(folder: Path, work: Path) -> Numbers:
    """Draw the figure of the demonstration's scene, with the ratio of Zstandard."""
    from gangsaw.tasks.formats.contract.opening import open_source
    from gangsaw.tasks.hyperspectral.commands.demo import peer_note, zstd_ratio
    from gangsaw.tasks.jobs.figures.plots import add_note

    figure = gangsaw.plot(scene(work))
    ratio = zstd_ratio(open_source(str(work / "demo" / "scene.hdr")).arrays[0])
    add_note(figure, peer_note(ratio))
    save_png(figure, folder / "demo.png", 100)
    (array,) = gangsaw.info(scene(work)).arrays
    assert array.block_bits is not None
    return {
        "shape": list(array.shape),
        "ratio": round(array.ratio, 4),
        "bits_per_sample": round(array.bits_per_sample, 4),
        "zstd_ratio": ratio,
        "block_bits": rounded(array.block_bits.bits),
        "band_bits": rounded(array.lane_bits, 3),
    }


def window(folder: Path, work: Path) -> Numbers:
    """Draw which blocks of the scene a window decodes."""
    (array,) = gangsaw.info(scene(work)).arrays
    bits = array.block_bits
    assert bits is not None
    rows, columns = (edges.tolist() for edges in bits.edges)
    samples = array.shape[0] * np.outer(np.diff(rows), np.diff(columns))
    stored = np.rint(bits.bits * samples / 8).astype(int).tolist()
    found = Window(rows, columns, stored, (300, 420), (350, 480))
    (folder / "window.svg").write_text(draw_window(found))
    count, n_bytes = found.decoded()
    return {**asdict(found), "decoded_blocks": count, "decoded_bytes": n_bytes}


def visibilities(folder: Path, work: Path) -> Numbers:
    """Draw the waterfall of seeded visibilities, next to the bits of their blocks."""
    store = work / "visibilities.zarr"
    data = seeded_data.visibility_dataset()
    gangsaw.compress(data, store, chunks={"time": 32, "frequency": 32})
    figure = gangsaw.plot(store)
    save_png(figure, folder / "visibilities.png", 95)
    array = max(gangsaw.info(store).arrays, key=lambda one: one.raw_bytes)
    assert array.block_bits is not None
    amplitudes = np.asarray(figure.axes[0].get_images()[0].get_array())
    return {
        "shape": list(array.shape),
        "ratio": round(array.ratio, 3),
        "block_bits": rounded(array.block_bits.bits, 3),
        "median_amplitude_of_each_16th_channel": rounded(np.median(amplitudes, axis=0)[::16], 3),
    }


def reads(folder: Path, work: Path) -> Numbers:
    """Draw the figure of a store of seeded reads."""
    store = work / "reads.zarr"
    gangsaw.compress([str(path) for path in seeded_data.write_reads(work)], store)
    figure = gangsaw.plot(store)
    figure.suptitle(figure.get_suptitle().rpartition("/")[2], x=0.01, ha="left", fontsize=12)
    save_png(figure, folder / "reads.png", 85)
    found = gangsaw.info(store)
    return {
        "stored_bytes": {array.name: array.stored_bytes for array in found.arrays},
        "raw_bytes": {array.name: array.raw_bytes for array in found.arrays},
    }


@lru_cache(maxsize=1)
def genome_store(work: Path) -> Path:
    """Return the store of a seeded genome, in small chunks, so that its repeats are seen."""
    path = seeded_data.write_fasta(work / "genome.fa", seeded_data.genome_records())
    chunks = {"residue": 1 << 16}
    gangsaw.compress(path, work / "genome.zarr", format="genome", chunks=chunks)
    return work / "genome.zarr"


def genome(folder: Path, work: Path) -> Numbers:
    """Draw the bits per base of a seeded genome along its records."""
    import gangsaw.genomes

    store = genome_store(work)
    figure = gangsaw.plot(store)
    save_png(figure, folder / "genome.png", 100)
    (residues,) = (one for one in gangsaw.info(store).arrays if one.name == "sequence")
    bits = residues.block_bits
    assert bits is not None
    opened = gangsaw.genomes.open(store)
    return {
        "records": dict(zip(opened.names, opened.lengths.tolist(), strict=True)),
        "bits_per_base": round(residues.bits_per_sample, 4),
        "edges": bits.edges[0].tolist(),
        "block_bits": rounded(bits.bits),
    }


def dotplot(folder: Path, work: Path) -> Numbers:
    """Draw the alignment of a query with an inversion and a deletion."""
    from gangsaw.cli import main

    codes = seeded_data.genome_records()[0][1]
    query = seeded_data.inverted_query(codes)
    path = seeded_data.write_fasta(work / "query.fa", [("query", query)])
    target = work / "query.paf"
    words = ["align", str(path), str(genome_store(work)), str(target), "-q", "--json"]
    quiet_main(main, words)
    segments = list(primary_segments(target.read_text()))
    (folder / "dotplot.svg").write_text(draw_dots(segments, len(query)))
    return {"query_bases": len(query), "segments": [asdict(one) for one in segments]}


def quiet_main(main: Callable[[Sequence[str]], int], words: Sequence[str]) -> None:
    """Run a command without its output; raise RuntimeError if it fails."""
    from contextlib import redirect_stdout
    from io import StringIO

    with redirect_stdout(StringIO()) as output:
        code = main(words)
    if code:
        raise RuntimeError(f"{' '.join(words)} ended with {code}: {output.getvalue()}")


def primary_segments(paf: str) -> Iterator[Segment]:
    """Yield the primary alignments of PAF to chr1, in the order of the query."""
    rows = [row.split("\t") for row in paf.splitlines()]
    found = [row for row in rows if row[5] == "chr1" and "tp:A:P" in row]
    for row in sorted(found, key=lambda row: int(row[2])):
        yield Segment((int(row[2]), int(row[3])), (int(row[7]), int(row[8])), row[4] == "-")


def search(folder: Path, work: Path) -> Numbers:
    """Draw the hits of patterns along a seeded log."""
    import gangsaw.search

    path, store = seeded_data.write_log(work / "access.log"), work / "logs.zarr"
    gangsaw.compress(path, store, format="text")
    gangsaw.search.index(str(store))
    opened, size = gangsaw.search.open(str(store)), path.stat().st_size
    counts = {}
    for pattern in PATTERNS:
        places = np.asarray(opened.locate(pattern).place)
        bins, _ = np.histogram(places, HIT_PARTS, (0, size))
        counts[pattern] = bins.tolist()
    (folder / "search.svg").write_text(draw_hits(counts, size / 1e6))
    return {"bytes": size, "hits": counts}


def tcr(folder: Path, work: Path) -> Numbers:
    """Draw the three plots of path counts and sharing of seeded repertoires in a column."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from gangsaw.tasks.tcr import (
        Setup,
        associate,
        count_repertoires,
        open_germline,
        open_inputs,
        share,
    )
    from gangsaw.tasks.tcr.statistics.plots import plot_deciles, plot_n2, plot_paths

    store, table = work / "paths.zarr", work / "shared.parquet"
    tables = seeded_data.write_repertoires(work)
    germline = open_germline("olga", locus="TRB", species="mouse")
    count_repertoires(open_inputs([str(path) for path in tables]), store, Setup(germline))
    share([str(store)], table)
    found = associate([str(store)], table)
    drawn = []
    for figure in (plot_deciles(found), plot_paths(found), plot_n2(found)):
        figure.set_size_inches(7.4, 4.0)
        figure.set_dpi(100)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        drawn.append(np.asarray(canvas.buffer_rgba())[..., :3])
    save_pixels(np.concatenate(drawn), folder / "tcr.png")
    return {
        "nucleotypes": found.nucleotypes,
        "shared": found.shared,
        "individuals": found.individuals,
        "deciles": [
            {"paths_from": one.lowest, "nucleotypes": one.nucleotypes, "shared": one.shared}
            for one in found.deciles
        ],
        "mean_by_individuals": [
            {"column": one.column, "individuals": one.individuals, "n": one.n, "mean": one.mean}
            for one in found.by_sharing
            if one.column == "n2" or one.column.startswith("all ")
        ],
    }


def scaling(folder: Path, work: Path) -> Numbers:
    """Draw the processor time of a chunk over the number of chunks, from committed results."""
    rows = ratios.rows_of("results-scale.json")
    costs: dict[str, dict[int, float]] = {"client": {}, "scheduler": {}}
    for what, row in rows.items():
        found = re.fullmatch(r"([\d,]+) no-op chunks: (client|scheduler)", what)
        if found is not None:
            value = float(f"{float(str(row['value'])):.4g}")
            costs[found[2]][int(found[1].replace(",", ""))] = value
    (folder / "scaling.svg").write_text(draw_costs(costs))
    return {"unit": "microseconds of processor time per chunk", **costs}


def ratio_bars(folder: Path, work: Path) -> list[dict[str, object]]:
    """Draw the stored sizes next to those of peers, from committed results."""
    found = ratios.comparisons()
    (folder / "ratios.svg").write_text(ratios.draw_bars(found))
    return [asdict(one) for one in found]


Draw = Callable[[Path, Path], "Numbers | list[dict[str, object]]"]
DRAWN: dict[str, Draw] = {
    "demo": demo,
    "window": window,
    "visibilities": visibilities,
    "reads": reads,
    "genome": genome,
    "dotplot": dotplot,
    "search": search,
    "tcr": tcr,
    "scaling": scaling,
    "ratios": ratio_bars,
}


def blocks(folder: Path, work: Path) -> Numbers:
    """Draw the blocks and the frame of a chunk, if the script of that drawing is there."""
    drawings = import_module("drawings")
    (folder / "blocks.svg").write_text(drawings.draw_blocks())
    return {"rows": drawings.ROWS, "columns": drawings.COLUMNS, "read": list(drawings.READ)}


if find_spec("drawings") is not None:
    DRAWN["blocks"] = blocks


def make(folder: Path, names: Sequence[str]) -> None:
    """Write pictures, and the numbers behind them, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as work:
        for name in names:
            numbers = DRAWN[name](folder, Path(work))
            wide = name == "ratios"
            words = json.dumps(numbers, indent=1) if wide else compact(numbers)
            (folder / f"{name}.json").write_text(f"{words}\n")


def compact(numbers: object) -> str:
    """Return JSON with a line for each field of an object."""
    assert isinstance(numbers, dict)
    fields = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in numbers.items()]
    return "{\n" + ",\n".join(fields) + "\n}"


def differences(expected: object, found: object, where: str) -> Iterator[str]:
    """Yield a line for each number or text that differs; numbers may differ by NEAR."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted({*expected, *found}):
            if name not in expected or name not in found:
                yield f"{where}.{name}: {'not committed' if name in found else 'no longer made'}"
            else:
                yield from differences(expected[name], found[name], f"{where}.{name}")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{where}: {len(expected)} items are committed, {len(found)} were made"
            return
        for i, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{where}[{i}]")
    elif isinstance(expected, int | float) and isinstance(found, int | float):
        if not math.isclose(expected, found, rel_tol=NEAR, abs_tol=NEAR):
            yield f"{where}: {expected} is committed, {found} was made"
    elif expected != found:
        yield f"{where}: {expected!r} is committed, {found!r} was made"


def check(names: Sequence[str]) -> list[str]:
    """Make pictures again, and return a line for each number that differs from the committed."""
    lines = []
    with TemporaryDirectory() as folder:
        made = Path(folder)
        make(made, names)
        for name in names:
            committed = PICTURES / f"{name}.json"
            if not committed.is_file():
                lines.append(f"{name}: no numbers are committed")
                continue
            pair = (json.loads(path.read_text()) for path in (committed, made / committed.name))
            lines += differences(*pair, name)
    return lines


def main() -> int:
    """Write the pictures, or check their numbers; return 1 if some differ."""
    parser = argparse.ArgumentParser(description="Write or check the pictures.")
    parser.add_argument("names", nargs="*", help=f"pictures; all: {' '.join(DRAWN)}")
    parser.add_argument("--check", action="store_true", help="compare the numbers, write nothing")
    options = parser.parse_args()
    if unknown := set(options.names) - set(DRAWN):
        parser.error(f"no picture {sorted(unknown)[0]!r}; there are: {' '.join(DRAWN)}")
    names = options.names or list(DRAWN)
    if not options.check:
        make(PICTURES, names)
        return 0
    lines = check(names)
    print("\n".join(lines or [f"{len(names)} pictures have the committed numbers"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
