"""Command `gangsaw demo`: all steps of a job on one scene."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import Workers
from gangsaw.tasks.console.output import (
    clock,
    job_figures,
    print_table,
    progress_bar,
    rate,
    ratio_rows,
    write_json,
)
from gangsaw.tasks.console.panels import expand_panels

if TYPE_CHECKING:
    from distributed import Client

    from gangsaw.tasks.engine.report.progress import OnProgress
    from gangsaw.tasks.jobs.compress import Summary
    from gangsaw.tasks.sources.source import Source, SourceArray

HELP_GROUP = "Images"  # of the command in `gangsaw --help`
T = TypeVar("T")
MARK = ".gangsaw-demo"  # marker: existing folders are written only if they have it or are empty
NAMES = ("scene.hdr", "scene.img", "scene.zarr", "copy.hdr", "copy.img", "copy.zarr", "scene.png")
WORKERS = 2
CORNER = 64  # samples along each axis, enough to compile the kernels for a scene of any size
SEED = 123
PEER_BYTES = 1 << 26  # of samples that Zstandard compresses, too


@dataclass(frozen=True)
class TwoWorkers(Workers):
    """Cluster options with two workers of one thread as defaults."""

    workers: opt.TwoWorkers = WORKERS
    threads: opt.Threads = 1


@expand_panels
def demo(
    source: Annotated[
        str | None,
        typer.Argument(help="Scene to measure. (default: a synthetic one)", show_default=False),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder for all output.")] = Path("gangsaw-demo"),
    scene: Annotated[
        str,
        typer.Option("--size", metavar="N,N,N", help="bands,rows,columns of the synthetic scene."),
    ] = "96,512,512",
    cluster: TwoWorkers,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Make a scene, compress it on a local cluster, verify, decompress, compare, and draw it.

    Example: gangsaw demo --size 224,512,512
    """
    extents = opt.extents_of("--size", scene)
    if len(extents) != 3:
        raise BadParams(f"--size must be bands,rows,columns, got {scene!r}")
    opened = None if source is None else open_scene(source)  # errors leave no folder behind
    prepare(out)
    run = _DemoRun(out, quiet or as_json, as_json)
    if opened is None:
        opened = open_scene(run.run_timed("make a scene", lambda: write_demo_scene(out, extents)))
    with cluster.session() as client:
        result = run.run_all(opened, client, None if source else tiles(extents))
    if as_json:
        write_json(result.figures())
    else:
        print_table("gangsaw demo", result.rows())


def open_scene(path: str) -> Source:
    """Return the source at a path, which all steps read; raise BadParams if it has no samples."""
    from gangsaw.tasks.formats.contract.opening import open_source

    opened = open_source(path)
    if not any(prod(array.shape) for array in opened.arrays):
        raise BadParams(f"{path} holds no samples: there is nothing to show")
    return opened


def prepare(out: Path) -> None:
    """Create the folder, or remove the files of an earlier demo from it, and nothing else."""
    if out.exists() and not (out / MARK).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise BadParams(f"{out} exists and no demo made it: name another folder with --out")
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).touch()
    for name in NAMES:
        old = out / name
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)


def write_demo_scene(out: Path, extents: tuple[int, ...]) -> str:
    """Write a synthetic scene as an ENVI image; return the path of its header."""
    from gangsaw.tasks.formats.envi.export import export_envi
    from gangsaw.tasks.formats.flat.memory_array import MemoryArray
    from gangsaw.tasks.hyperspectral.synthetic import make_scene as make
    from gangsaw.tasks.sources.source import Coordinate

    bands, rows, columns = extents
    scene = make(bands, rows, columns, seed=SEED)
    nm = {"units": "Nanometers"}
    coords = (
        Coordinate("wavelength", ("band",), scene.wavelength.round(2), nm),
        Coordinate("fwhm", ("band",), scene.fwhm.round(2), nm),
    )
    about = {"description": f"Synthetic imaging spectrometer scene, seed {SEED}"}
    image = MemoryArray(scene.cube, ("band", "y", "x"), attrs=about)
    export_envi(image, coords, out / "scene.hdr", overwrite=True)
    return str(out / "scene.hdr")


def warm_up(image: SourceArray) -> Callable[[], None]:
    """Return a function that compiles the kernels for such an image, or loads them from the cache.

    Then the reported throughput excludes compilation. Kernels are specialized for classes of band
    counts, so the function encodes a corner-sized array with the image's own codec.
    """
    import numpy as np

    from gangsaw.codecs.core.zarr.block_codec import BlockCodec
    from gangsaw.tasks.jobs.choice.choose import choose_layout

    codec = choose_layout(image, "auto", None).codec
    shape, dtype = [min(n, CORNER) for n in image.shape], image.dtype

    def compile_all() -> None:
        whole = np.zeros(shape, dtype)
        part = np.zeros([n + 1 for n in shape], dtype)[tuple(map(slice, shape))]
        for chunk in (whole, part):  # contiguous and strided arrays need different kernels
            if isinstance(codec, BlockCodec):
                codec.decode_chunk(np.frombuffer(codec.encode_chunk(chunk), np.uint8), chunk)

    return compile_all


def tiles(extents: tuple[int, ...]) -> dict[str, int]:
    """Return chunk extents of one codec block each.

    So a small scene has many chunks, and the progress bar moves.
    """
    import numpy as np

    from gangsaw.codecs.core.zarr.block_codec import BlockCodec
    from gangsaw.tasks.jobs.choice.choose import choose_layout
    from gangsaw.tasks.sources.source import Described

    dtype, dims = np.dtype(np.uint16), ("band", "y", "x")
    scene = Described(name="scene", shape=extents, dtype=dtype, dims=dims, chunks=None)
    codec = choose_layout(scene, "auto", extents).codec
    assert isinstance(codec, BlockCodec)
    return dict(zip(dims[1:], codec.coder(extents, dtype).grid.block_shape[1:], strict=True))


def zstd_ratio(image: SourceArray) -> float:
    """Return the ratio by Zstandard of level 3, of all samples or of the first 64 MiB."""
    from numcodecs import Zstd

    row_bytes = image.dtype.itemsize * prod(image.shape[1:])
    rows = min(image.shape[0], max(1, PEER_BYTES // max(1, row_bytes)))
    samples = image.read((slice(0, rows), *(slice(0, n) for n in image.shape[1:])))
    raw = samples.tobytes()
    return round(len(raw) / max(1, len(Zstd(level=3).encode(raw))), 3)


def peer_note(ratio: float) -> str:
    """Return the note of the picture: the ratio of Zstandard."""
    return f"zstd -3: ratio {ratio:.2f}"


@dataclass(frozen=True)
class DemoResult:
    """Results of the demo.

    Attributes
    ----------
    summary : results of the compress job
    copy : path of the decompressed copy
    zstd_ratio : ratio by Zstandard of level 3, of the same samples or their first 64 MiB
    picture : path of the picture, or None for an array that has none
    seconds : wall time of each step
    """

    summary: Summary
    copy: str
    zstd_ratio: float
    picture: str | None
    seconds: dict[str, float]

    def figures(self) -> dict[str, object]:
        """Return the results as JSON values."""
        extra = {
            "zstd_ratio": self.zstd_ratio,
            "copy": self.copy,
            "picture": self.picture,
            "step_seconds": self.seconds,
        }
        return {**job_figures(self.summary), **extra}

    def rows(self) -> list[tuple[str, str]]:
        """Return the results as rows of a table."""
        s = self.summary
        steps = (
            f"{name} {clock(n) if n >= 60 else f'{n:.1f} s'}" for name, n in self.seconds.items()
        )
        return [
            *ratio_rows(s),
            ("zstd -3", f"ratio {self.zstd_ratio:.3f} of the same samples"),
            ("bits/sample", f"{s.bits_per_sample:.2f}"),
            ("throughput", f"{rate(s.throughput)}, source on disk to store on disk"),
            ("checked", "every chunk verified; source, store and decompressed copy are equal"),
            ("time", ", ".join(steps)),
            ("store", s.store),
            ("picture", self.picture or "none: the array has no blocks to draw"),
        ]


class _DemoRun:
    """Runner of the demo's steps, each with a progress bar and its wall time."""

    def __init__(self, out: Path, quiet: bool, silent: bool) -> None:
        self.out, self.quiet, self.silent = out, quiet, silent
        self.seconds: dict[str, float] = {}

    def run_all(
        self, source: Source, client: Client | None, chunks: dict[str, int] | None
    ) -> DemoResult:
        from gangsaw.tasks.api import functions
        from gangsaw.tasks.engine.run.run import call_on_every_worker

        store, copy = str(self.out / "scene.zarr"), self._copy_name(source)
        compile_all = warm_up(source.arrays[0])
        self.run_with_bar(
            "start", lambda _: call_on_every_worker(compile_all, client), "compiling, only once"
        )
        summary = self.run_with_bar(
            "compress",
            lambda show: functions.compress(
                source, store, chunks=chunks, client=client, overwrite=True, on_progress=show
            ),
        )
        self.verify(store, source, client, "verify")
        self.run_with_bar(
            "decompress",
            lambda show: functions.decompress(
                store, copy, client=client, overwrite=True, on_progress=show
            ),
        )
        self.verify(store, copy, client, "compare")
        ratio = self.run_timed("zstd", lambda: zstd_ratio(source.arrays[0]))
        picture = self.run_timed("draw", lambda: self.draw(store, peer_note(ratio)))
        return DemoResult(summary, copy, ratio, picture, self.seconds)

    def verify(self, store: str, against: str | Source, client: Client | None, title: str) -> None:
        """Verify every chunk and compare every sample; raise JobFailed for the first problem."""
        from gangsaw.tasks.api import functions

        report = self.run_with_bar(
            title,
            lambda show: functions.verify(store, against=against, client=client, on_progress=show),
        )
        if not report.ok:
            raise JobFailed(report.problems[0])

    def draw(self, store: str, note: str) -> str | None:
        """Draw the picture and return its path; return None if the store has no blocks."""
        from gangsaw.tasks.api import functions
        from gangsaw.tasks.jobs.figures.plots import plot_store

        info = functions.info(store)
        if all(array.block_bits is None for array in info.arrays):
            return None
        path = self.out / "scene.png"
        plot_store(info, path, note)
        return str(path)

    def run_with_bar(
        self, title: str, step: Callable[[OnProgress | None], T], status: str = "starting"
    ) -> T:
        """Run a step under its progress bar."""
        with progress_bar(title, status, quiet=self.quiet) as show:
            return self.run_timed(title, lambda: step(show))

    def run_timed(self, title: str, step: Callable[[], T]) -> T:
        """Run a step and record its time."""
        began = time.monotonic()
        result = step()
        self.seconds[title] = round(time.monotonic() - began, 2)
        return result

    def _copy_name(self, source: Source) -> str:
        from gangsaw.tasks.formats.envi.source import EnviSource

        is_envi = isinstance(source, EnviSource)
        return str(self.out / ("copy.hdr" if is_envi else "copy.zarr"))
