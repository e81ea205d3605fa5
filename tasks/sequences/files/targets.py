"""Files of text to write, compressed as their suffix says; they appear when they are whole."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.atomic import check_apart, check_target, whole_files
from gangsaw.tasks.formats.format import Paths, Work
from gangsaw.tasks.sequences.files.text import STDIN as STDOUT

LEVEL = 1  # of gzip: the store is what saves space


@contextmanager
def open_targets(paths: Paths, work: Work) -> Iterator[list[IO[bytes]]]:
    """Open the targets: standard output, or files that appear when they are whole."""
    check_targets(paths, overwrite=work.overwrite)
    if paths == (STDOUT,):
        yield [sys.stdout.buffer]
        sys.stdout.buffer.flush()
        return
    targets = [Path(path) for path in paths]
    with whole_files(targets, overwrite=work.overwrite) as parts, ExitStack() as stack:
        pairs = zip(targets, parts, strict=True)
        yield [stack.enter_context(_packed(target.suffix.lower(), part)) for target, part in pairs]


def check_targets(paths: Paths, *, overwrite: bool) -> None:
    """Raise BadParams for targets that stand in the way, or cannot be written."""
    check_apart(paths)
    for target in (Path(path) for path in paths if path != STDOUT):
        check_target(target, overwrite=overwrite)
        if target.suffix.lower() == ".zst":
            raise BadParams("writing .zst is not supported: name a target .gz, or plain text")


def _packed(suffix: str, part: Path) -> IO[bytes]:
    """Open a file to write text, compressed as its suffix says."""
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
    return part.open("wb")
