"""Mates: lines of two files that belong together, line by line, read once and without a seek."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zlib import crc32

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.contents import CONTENT
from gangsaw.codecs.core.plugins.options import Option
from gangsaw.tasks.formats.contract.format import (
    ExportOptions,
    Fit,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gangsaw.tasks.sources.source import Coordinate, Description, Source, Stage, Stream

SIDES = ("left", "right")
LINES = 1000  # that are read at a time
ENDS = {"lf": b"\n", "crlf": b"\r\n"}


@dataclass(frozen=True)
class Mates:
    """The stream of two files: all letters of a side are one array.

    The first `skip` lines of each are left out.
    """

    paths: Paths
    skip: int = 0
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=lambda: {"toy": True})
    stages: tuple[Stage, ...] = ()

    @property
    def name(self) -> str:
        """The paths."""
        return ", ".join(self.paths)

    def versions(self) -> Mapping[str, str]:
        """What changes with either file: a job fails where one changes while it is read."""
        from gangsaw.tasks.store.objects.versions import file_versions

        return file_versions(*self.paths)

    @property
    def arrays(self) -> tuple[Description, ...]:
        """An array of bytes for each side, of unknown length."""
        import numpy as np

        from gangsaw.tasks.sources.source import Described

        kind: np.dtype[Any] = np.dtype("u1")
        return tuple(
            Described(
                name=side,
                shape=(0,),
                dtype=kind,
                dims=(f"{side}_byte",),
                chunks=None,
                attrs={CONTENT: "text lines"},  # the codec that knows it needs no proof
            )
            for side in SIDES
        )

    def pieces(self) -> Iterator[Mapping[str, NDArray[np.uint8]]]:
        """Yield some lines of both sides; BadParams where one has fewer than the other."""
        import numpy as np

        with _opened(self.paths[0]) as left, _opened(self.paths[1]) as right:
            for side in (left, right):
                next(islice(side, self.skip, self.skip), None)
            while True:
                lines = [list(islice(side, LINES)) for side in (left, right)]
                if len(lines[0]) != len(lines[1]):
                    raise BadParams(f"{self.name}: one has fewer lines than the other")
                if not lines[0]:
                    return
                joined = (np.frombuffer(b"".join(side), np.uint8) for side in lines)
                yield dict(zip(SIDES, joined, strict=True))


@dataclass(frozen=True)
class Signed(Mates):
    """The same with a checksum of each pair of lines: what the stage makes of it."""

    @property
    def arrays(self) -> tuple[Description, ...]:
        """Those of the mates, and the signatures."""
        import numpy as np

        from gangsaw.tasks.sources.source import Described

        kind: np.dtype[Any] = np.dtype("u4")
        dims = ("record",)
        own = Described(name="signature", shape=(0,), dtype=kind, dims=dims, chunks=None)
        return (*super().arrays, own)

    def pieces(self) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Yield some lines of both sides, and their checksums."""
        import numpy as np

        for piece in super().pieces():
            sides = (piece[side].tobytes().splitlines() for side in SIDES)
            signatures = [crc32(b"".join(pair)) for pair in zip(*sides, strict=True)]
            yield {**piece, "signature": np.array(signatures, "u4")}


def _sign(source: Source | Stream) -> Stream:
    assert isinstance(source, Mates)
    return Signed(source.paths, source.skip)


def _opened(path: str) -> IO[bytes]:
    return sys.stdin.buffer if path == "-" else Path(path).open("rb")


def _sure(suffix: str) -> Callable[[Look], Sure]:
    return lambda look: Sure.PERHAPS if look.suffix == suffix else Sure.NO


def _open(paths: Paths, options: SourceOptions) -> Mates:
    if (skip := int(options.own.get("skip", 0))) < 0:
        raise BadParams(f"--skip must be 0 or more lines, got {skip}")
    return Mates(paths, skip)


def _open_signed(paths: Paths, options: SourceOptions) -> Mates:
    from gangsaw.tasks.sources.source import Stage

    return replace(_open(paths, options), stages=(Stage("sign", _sign),))


def _fit(source: Source) -> Fit:
    is_own = bool(source.attrs.get("toy"))
    return Fit("" if is_own else f"{source.name} holds no lines of two sides", is_own=is_own)


def _export(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.formats.exporting.atomic import write_whole_files

    end = ENDS[str(options.own.get("line_end", "lf"))]
    arrays = {array.name: array for array in source.arrays}
    with write_whole_files([Path(path) for path in paths], overwrite=work.overwrite) as parts:
        for side, part in zip(SIDES, parts, strict=True):
            with part.open("wb") as file:
                _write(arrays[side], file, end)


def _write(array: Any, file: IO[bytes], end: bytes) -> None:
    (length,), (step,) = array.shape, array.chunks
    for start in range(0, length, step):
        letters = array.read((slice(start, min(start + step, length)),)).tobytes()
        file.write(letters.replace(b"\n", end))


TOY = Format(
    name="toy",
    title="toy",
    about="lines of two files, streamed",
    sure=_sure(".toy"),
    open=_open,
    options=(Option("skip", "Lines to leave out at the start of each file.", "0", int),),
    export=_export,
    export_options=(Option("line_end", "End of each line.", "lf", choices=tuple(ENDS)),),
    suffixes=(".toy",),
    fit=_fit,
    paths=range(2, 3),
    streams=True,
)
SIGNED = replace(
    TOY,
    name="signedtoy",
    title="signed toy",
    about="the same, signed by a stage before it is encoded",
    sure=_sure(".signed"),
    open=_open_signed,
    suffixes=(".signed",),
)
