"""Text output files, compressed by their suffix; they appear once complete."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, BinaryIO, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import STDIN as STDOUT
from gangsaw.tasks.formats.contract.format import Paths, Work
from gangsaw.tasks.formats.contract.pipes import is_stream, open_target
from gangsaw.tasks.formats.exporting.atomic import check_apart, check_target, write_whole_files

LEVEL = 1  # level of gzip: the store is what saves space


@contextmanager
def open_targets(paths: Paths, work: Work) -> Iterator[list[IO[bytes]]]:
    """Open text files for writing, compressed by their suffixes: they appear once complete.

    A path may also stand for standard output.
    """
    check_targets(paths, overwrite=work.overwrite)
    if paths == (STDOUT,):
        yield [sys.stdout.buffer]
        sys.stdout.buffer.flush()
        return
    files = [Path(path) for path in paths if not is_stream(path)]
    with write_whole_files(files, overwrite=work.overwrite) as parts, ExitStack() as stack:
        left = iter(parts)
        opened: list[Path | BinaryIO] = [
            stack.enter_context(open_target(path)) if is_stream(path) else next(left)
            for path in paths
        ]
        yield [
            stack.enter_context(_packed(Path(path).suffix.lower(), part))
            for path, part in zip(paths, opened, strict=True)
        ]


def check_targets(paths: Paths, *, overwrite: bool) -> None:
    """Raise BadParams for targets that exist or cannot be written."""
    check_apart(paths)
    for target in (Path(path) for path in paths if path != STDOUT):
        check_target(target, overwrite=overwrite)
        if target.suffix.lower() == ".zst":
            raise BadParams("writing .zst is not supported: name a target .gz, or plain text")


def _packed(suffix: str, part: Path | BinaryIO) -> IO[bytes]:
    """Open a file, or wrap a stream, to write text, compressed as its suffix says."""
    if suffix in (".gz", ".bgz"):
        if find_spec("isal"):
            from isal import igzip_threaded

            return cast(IO[bytes], igzip_threaded.open(part, "wb", LEVEL, threads=1))
        return cast(IO[bytes], gzip.open(part, "wb", LEVEL))
    if suffix == ".bz2":
        import bz2

        return cast(IO[bytes], bz2.open(part, "wb"))
    if suffix == ".xz":
        import lzma

        return cast(IO[bytes], lzma.open(part, "wb"))
    return part.open("wb") if isinstance(part, Path) else part
