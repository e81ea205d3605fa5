"""Damage to files of every format of the table: opened by name, and read to their end."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
from helpers.tcr_tables import bgzip

from fuzz.codecs import Attempt
from fuzz.damage import Octets, Rng, damaged, damaged_text
from fuzz.seeds import SEEDS, Seed
from fuzz.stores import read_all
from gangsaw.tasks.formats.contract.format import SourceOptions
from gangsaw.tasks.formats.contract.opening import open_paths
from gangsaw.tasks.formats.contract.table import readable
from gangsaw.tasks.sources.library_errors import convert_errors_of_pieces
from gangsaw.tasks.sources.source import Stream

MOST_PIECES = 1000


def targets() -> dict[str, Callable[[], Attempt]]:
    """Return what makes an attempt at each, by name: a format without seeds gets those of all."""
    found: dict[str, Callable[[], Attempt]] = {}
    for kind in readable():
        own = [seed for seed in SEEDS if seed.format == kind.name] or SEEDS
        found[f"format-{kind.name}"] = lambda own=own, name=kind.name: _of(own, name)
    tables = [seed for seed in SEEDS if seed.format == "tcr"]
    found["format-tcr"] = lambda: _of(tables, "tcr")
    return found


class Files:
    """A source of one file, or of a folder of files, of which each attempt damages one."""

    def __init__(self, seed: Seed, folder: Path) -> None:
        self.seed, self.folder = seed, folder
        self.name = seed.make(folder / "whole").name
        whole = folder / "whole"
        self.files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
        self.files = [path for path in self.files if (whole / path).stat().st_size]

    def damaged(self, rng: Rng) -> Path:
        """Write them with damage; return the path that is opened."""
        place = self.folder / "now"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder / "whole", place)
        file = place / self.files[rng.integers(len(self.files))]
        data = np.frombuffer(file.read_bytes(), np.uint8)
        is_text = self.seed.is_text or file.suffix.lower() == ".xml"
        file.write_bytes(_changed(data, is_text, self.seed.packed, rng))
        return place / self.name


def _changed(data: Octets, is_text: bool, packed: str, rng: Rng) -> bytes:
    """Damage the file, or what its checksums and compression are around."""
    change = damaged_text if is_text else damaged
    if packed and rng.random() < 0.8:
        inner = np.frombuffer(gzip.decompress(data.tobytes()), np.uint8)
        pack = bgzip if packed == "bgzip" else gzip.compress
        return pack(change(inner, rng).tobytes())
    return (damaged if packed else change)(data, rng).tobytes()


def _of(seeds: list[Seed], name: str) -> Attempt:
    folder = tempfile.TemporaryDirectory()
    files = []
    for i, seed in enumerate(seeds):
        place = Path(folder.name) / str(i)
        (place / "whole").mkdir(parents=True)
        files.append(Files(seed, place))

    def attempt(rng: Rng, _: object = folder) -> object:
        one = files[rng.integers(len(files))]
        return _read(one.damaged(rng), name, one.seed)

    return attempt


def _read(path: Path, name: str, seed: Seed) -> object:
    if name == "tcr":
        from helpers.tcr_tables import rows_in

        return rows_in(path)
    options = SourceOptions(format=name, own=seed.own, accept_loss=True)
    several = name == "collection" and path.is_dir()
    paths = tuple(sorted(map(str, path.iterdir()))) if several else (str(path),)
    opened = open_paths(paths, options)
    if isinstance(opened, Stream):
        return sum(
            1 for _ in islice(convert_errors_of_pieces(opened.name, opened.pieces()), MOST_PIECES)
        )
    return read_all(path, options)
