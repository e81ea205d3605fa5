"""Text and logs: bytes of each file and speeds of one core, beside other programs in one run."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs import Bwt
from gangsaw.codecs.bwt.params import EFFORTS
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, call_seconds, say

Text = npt.NDArray[np.uint8]

FILES = (
    *("alice29.txt", "lcet10.txt", "apache_logs", "silesia_xml", "silesia_mr_2MB"),
    "ecoli536.acgt",
)
ROUNDS = 3
MOST_DENSE = "<= 2253000"  # bytes of all files together
PROGRAMS: Mapping[str, tuple[str, ...]] = {  # the same with -d decodes
    "bzip2 -9": ("bzip2", "-9"),
    "lbzip2 -9": ("lbzip2", "-9", "-n1"),
    "bzip3 -b16": ("bzip3", "-b16"),
    "zstd -19": ("zstd", "-19", "-q", "--single-thread"),
    "xz -9": ("xz", "-9", "-T1"),
}


class Coder(NamedTuple):
    """What codes: each function returns its result and CPU seconds."""

    encode: Callable[[Text], tuple[bytes, float]]
    decode: Callable[[bytes, Text], tuple[bytes, float]]


def rows() -> Iterator[Row]:
    """Yield bytes of each file and coder, and of all files speeds."""
    set_thread_limit(1)
    yield Row("threads that ran on the machine when this began", os.getloadavg()[0], "on average")
    files = shared()
    for name, coder in coders().items():
        say(name)
        yield from _of(name, coder, files)


def shared() -> dict[str, Text]:
    """Return the files that are in the shared folder."""
    folder = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/text"
    paths = {name: folder / name for name in FILES}
    return {name: np.fromfile(path, np.uint8) for name, path in paths.items() if path.is_file()}


def coders() -> dict[str, Coder]:
    """Return ours, and the programs that are installed."""
    there = {name: words for name, words in PROGRAMS.items() if shutil.which(words[0])}
    ours = {f"bwt {effort}": _ours(Bwt(effort=effort)) for effort in EFFORTS}
    return {**ours, **{name: _program(words) for name, words in there.items()}, **_brotli()}


def _ours(codec: Bwt) -> Coder:
    def encode(text: Text) -> tuple[bytes, float]:
        frame, seconds = call_seconds(codec.encode_chunk, text)
        return bytes(frame), seconds

    def decode(frame: bytes, text: Text) -> tuple[bytes, float]:
        out = np.empty_like(text)
        _, seconds = call_seconds(lambda data: codec.decode_chunk(data, out), frame)
        return out.tobytes(), seconds

    encode(np.resize(np.arange(7, dtype=np.uint8), 3000))  # compiles
    return Coder(encode, decode)


def _program(words: tuple[str, ...]) -> Coder:
    def run(data: bytes, *more: str) -> tuple[bytes, float]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*words, *more, "-c"], input=data, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done.stdout, spent

    return Coder(lambda text: run(text.tobytes()), lambda data, _: run(data, "-d"))


def _brotli() -> dict[str, Coder]:
    """Return Brotli of imagecodecs, where it is there."""
    try:
        from imagecodecs import brotli_decode, brotli_encode
    except ImportError:
        return {}

    def encode(text: Text) -> tuple[bytes, float]:
        return call_seconds(lambda data: bytes(brotli_encode(data, level=11)), text.tobytes())

    def decode(data: bytes, text: Text) -> tuple[bytes, float]:
        return call_seconds(lambda found: bytes(brotli_decode(found)), data)

    return {"brotli -11": Coder(encode, decode)}


def _of(name: str, coder: Coder, files: Mapping[str, Text]) -> Iterator[Row]:
    total, spans = 0, np.zeros((2, ROUNDS))
    rounds = 1 if name.endswith(("-19", "-11", "xz -9")) else ROUNDS  # these take seconds each
    for file, text in files.items():
        for i in range(rounds):
            data, into = coder.encode(text)
            back, out_of = coder.decode(data, text)
            assert back == text.tobytes()
            spans[:, i] += into, out_of
        total += len(data)
        yield Row(f"{file}, {name}", len(data), "bytes", note=f"{text.size / len(data):.3f}")
    size = sum(text.size for text in files.values())
    asked = MOST_DENSE if name == "bwt dense" else ""
    yield Row(f"all, {name}", total, "bytes", asked, f"{size / max(1, total):.3f}")
    for word, of_rounds in zip(("encode", "decode"), spans[:, :rounds], strict=True):
        yield Row(f"all, {name}, {word}", size / 1e6 / float(np.median(of_rounds)), "MB/s")
