"""The commands that are killed: what they read, what they write, and how they are begun again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from helpers.envi_files import write_envi
from helpers.job_data import cube, objects
from helpers.tcr_runs import records, written

WORKERS = ("--workers", 2, "--quiet")
SHAPE = (6, 160, 160)
TILES = ("--chunks", "y=8,x=8")  # 400 chunks
VOLATILE = ("history",)  # files that tell when something was done


@dataclass(frozen=True)
class Command:
    """A command line in a folder.

    Attributes
    ----------
    before : commands that make what it reads
    words : its own, `--resume` apart
    result : the file or folder that it writes; "" of one that writes nothing
    goes_on : whether it takes `--resume`; others begin anew
    prepare : makes files in the folder first
    """

    words: tuple[object, ...]
    result: str
    before: tuple[tuple[object, ...], ...] = ()
    goes_on: bool = True
    prepare: Callable[[Path], object] = lambda folder: None

    def found(self, folder: Path) -> dict[str, bytes]:
        """Return the bytes of what it wrote, by name."""
        files = sorted(folder.glob(f"{self.result}*")) if self.result else []
        return {
            f"{path.name}/{name}": data
            for path in files
            for name, data in (objects(path) if path.is_dir() else {"": path.read_bytes()}).items()
            if not any(word in name for word in VOLATILE)
        }


def image(folder: Path) -> None:
    """Write an ENVI image."""
    write_envi(folder / "cube.hdr", cube(SHAPE))


def reads(folder: Path) -> None:
    """Write some reads of a random genome."""
    rng = np.random.default_rng(5)
    genome = "".join(rng.choice(list("ACGT"), 20_000))
    starts = rng.integers(0, len(genome) - 100, 6_000)
    lines = (f"@read.{i}\n{genome[at : at + 100]}\n+\n{'F' * 100}\n" for i, at in enumerate(starts))
    (folder / "reads.fastq").write_text("".join(lines))


def text(folder: Path) -> None:
    """Write a log."""
    rng = np.random.default_rng(6)
    lines = (
        f"job {n} took {n % 97} s on node {n % 13}\n" for n in rng.integers(0, 1 << 20, 20_000)
    )
    (folder / "log.txt").write_text("".join(lines))


STORED = ("compress", "cube.hdr", "store.zarr", *TILES, *WORKERS)
COMMANDS: Mapping[str, Command] = {
    "compress": Command(
        ("compress", "cube.hdr", "out.zarr", *TILES, *WORKERS), "out.zarr", prepare=image
    ),
    "decompress": Command(
        ("decompress", "store.zarr", "out.zarr", *WORKERS), "out.zarr", (STORED,), prepare=image
    ),
    "decompress to ENVI": Command(
        ("decompress", "store.zarr", "out.hdr", *WORKERS), "out.", (STORED,), False, image
    ),
    "verify": Command(
        ("verify", "store.zarr", "--against", "cube.hdr", *WORKERS), "", (STORED,), False, image
    ),
    "reads": Command(("compress", "reads.fastq", "out.zarr", *WORKERS), "out.zarr", prepare=reads),
    "tcr count": Command(
        ("tcr", "count", "a.tsv.gz", "out.zarr", "--species", "human", "--chunk", 16, *WORKERS),
        "out.",
        prepare=lambda folder: written(folder, "a", records(600)),
    ),
    "index": Command(
        ("index", "text.zarr", "--index", "out.zarr", *WORKERS),
        "out.zarr",
        (("compress", "log.txt", "text.zarr", "--chunks", 32768, *WORKERS),),
        prepare=text,
    ),
}
