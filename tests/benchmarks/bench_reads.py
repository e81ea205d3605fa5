"""Sequencing reads: what each kind costs in bits, and speeds of one core, for each shared set."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.codecs import Reads
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, cpu_seconds, say
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.stream.stream import ReadStream

ROUNDS = 3
ENCODE, DECODE, LITERAL = ">= 15", ">= 300", ">= 100"  # Mbases/s
QUALITY = NAME = ">= 100"  # MB/s of text
FEW_NAMES = 1000


@dataclass(frozen=True)
class ReadFiles:
    """A set of the shared folder, and what others need for it.

    Attributes
    ----------
    files : of which names have "_R1" or "_R2" where they are mates; here they follow each other
    bases : bits a base in kept order that are asked for; the figures of SPRING and PgRC2 beside
    qualities : bits a quality of the best of fqzcomp -q1 to -q3
    names : bytes a name of fqzcomp -n2
    decode : Mbases/s that are asked for
    """

    files: tuple[str, ...]
    bases: float
    others: str
    qualities: float | None = None
    names: float | None = None
    decode: str = DECODE


SETS = {
    "hiv1 250": ReadFiles(("hiv1_miseq250_R1",), 0.170, "SPRING .258, PgRC2 .289", 1.122, 2.71),
    "portiera 36": ReadFiles(
        ("portiera_SRR2838702_R2",), 0.610, "SPRING .629, PgRC2 .665", 2.096, 3.48, ""
    ),
    "shigella 150": ReadFiles(
        ("shigella_ERR6005894_R1", "shigella_ERR6005894_R2"),
        1.099,
        "SPRING 1.348, PgRC2 1.539",
        1.153,
        3.44,
    ),
    "human 101": ReadFiles(
        ("human_hiseq101_TESTX_L001_R1", "human_hiseq101_TESTX_L001_R2"),
        1.889,
        "SPRING 1.979, PgRC2 2.091",
        1.888,
        2.29,
        "",
    ),
    "sars2 250": ReadFiles(
        ("sars2_capture_MN908947_3_1_R1", "sars2_capture_MN908947_3_1_R2"),
        0.090,
        "SPRING .116",
        0.700,
        2.64,
    ),
    "gaii 79": ReadFiles(("gaii79_interleaved",), 1.308, "SPRING 1.514, PgRC2 1.488", decode=""),
    "lambda ONT": ReadFiles(("lambda_ont_ERA476754",), 1.915, "", 3.428, decode=LITERAL),
}


def rows() -> Iterator[Row]:
    """Yield bits and speeds of each set, and bytes of whole files beside other programs'."""
    folder = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/genomes/reads"
    if not folder.is_dir():
        return
    set_thread_limit(1)
    total = [0.0, 0.0]
    for name, one in SETS.items():
        say(name)
        texts = arrays_of([folder / f"{file}.fastq.gz" for file in one.files])
        yield from _sequences(name, one, texts, total)
        yield from _qualities(name, one, texts["quality"])
        yield from _names(name, one, texts["name"])
    yield Row("sequences, all sets, encode", total[0] / total[1], "Mbases/s", ">= 20")
    yield from _whole_files(folder)


def arrays_of(paths: list[Path]) -> dict[str, Text]:
    """Return the arrays of some files, one file behind the other."""
    parts: dict[str, list[Text]] = {"sequence": [], "quality": [], "name": []}
    for path in paths:
        for piece in ReadStream((str(path),)).pieces():
            for name in parts:
                parts[name] += [np.asarray(piece[name])] if name in piece else []
    return {name: np.concatenate(found) for name, found in parts.items()}


def letters_of(text: Text) -> int:
    """Return the bytes of a text above newlines."""
    return int(np.count_nonzero(text > 10))


def _coded(kind: str, text: Text) -> tuple[int, float, float]:
    """Return stored bytes, and CPU seconds of encoding and decoding."""
    codec = Reads(kind=kind)
    frame, out = codec.encode_chunk(text), np.empty_like(text)
    encode = cpu_seconds(lambda: codec.encode_chunk(text), ROUNDS)
    decode = cpu_seconds(lambda: codec.decode_chunk(frame, out), ROUNDS)
    assert (out == text).all()
    return len(frame), encode, decode


def _sequences(
    name: str, one: ReadFiles, texts: dict[str, Text], total: list[float]
) -> Iterator[Row]:
    text = texts["sequence"]
    stored, encode, decode = _coded("sequence", text)
    mega = letters_of(text) / 1e6
    total[0] += mega
    total[1] += encode
    bits = 8e-6 * stored / mega
    yield Row(f"sequences, {name}", bits, "bits a base", f"<= {one.bases}", one.others)
    yield Row(f"sequences, {name}, encode", mega / encode, "Mbases/s", ENCODE)
    yield Row(f"sequences, {name}, decode", mega / decode, "Mbases/s", one.decode)


def _qualities(name: str, one: ReadFiles, text: Text) -> Iterator[Row]:
    stored, encode, decode = _coded("quality", text)
    n = letters_of(text)
    target = "" if one.qualities is None else f"<= {one.qualities}"
    note = "" if one.qualities is None else "asked: the best of fqzcomp 4.6 -q1 to -q3"
    yield Row(f"qualities, {name}", 8 * stored / n, "bits each", target, note)
    yield Row(f"qualities, {name}, encode", n / 1e6 / encode, "MB/s", QUALITY)
    yield Row(f"qualities, {name}, decode", n / 1e6 / decode, "MB/s", QUALITY)


def _names(name: str, one: ReadFiles, text: Text) -> Iterator[Row]:
    stored, encode, decode = _coded("name", text)
    n, mega = int((text == 10).sum()), text.size / 1e6
    target = "" if one.names is None else f"<= {one.names * 1.03:.3g}"
    note = "" if one.names is None else f"fqzcomp 4.6 -n2: {one.names}; asked: within 3 %"
    yield Row(f"names, {name}", stored / n, "bytes each", target, note)
    few = f"{n} names in all: what a block takes however small" if n < FEW_NAMES else ""
    yield Row(f"names, {name}, encode", mega / encode, "MB/s", NAME, few)
    yield Row(f"names, {name}, decode", mega / decode, "MB/s")


def _whole_files(folder: Path) -> Iterator[Row]:
    """Yield the bytes of all arrays of a set over those of other programs' files."""
    for name, one in SETS.items():
        paths = [folder / f"{file}.fastq.gz" for file in one.files]
        texts = arrays_of(paths)
        ours = sum(_coded(kind, text)[0] for kind, text in texts.items())
        with tempfile.TemporaryDirectory() as scratch:
            others = dict(_others(paths, Path(scratch)))
        best = min(others, key=others.__getitem__) if others else ""
        note = "; ".join(f"{program} {size / ours:.3f}" for program, size in others.items())
        target = f"<= {others[best] / 1e6:.5g}" if others else ""
        yield Row(f"whole records, {name}", ours / 1e6, "MB", target, f"as often ours: {note}")


def _others(paths: list[Path], scratch: Path) -> Iterator[tuple[str, int]]:
    """Yield bytes of files of programs that are on the machine."""
    text = scratch / "all.fastq"
    with text.open("wb") as out:
        for path in paths:
            subprocess.run(["gzip", "-dc", path], stdout=out, check=True)
    commands = {
        "zstd -19 --long": f"zstd -q -19 --long=27 -T2 {text} -o {scratch}/out.zst",
        "pigz -9": f"pigz -9 -k -c {text} > {scratch}/out.gz",
        "samtools CRAM 3.1": f"samtools import -O cram,version=3.1,archive {text}"
        f" -o {scratch}/out.cram",
    }
    for name, command in commands.items():
        if shutil.which(command.split()[0]):
            subprocess.run(command, shell=True, check=True, stderr=subprocess.DEVNULL)
            (made,) = scratch.glob("out.*")
            yield name, made.stat().st_size
            made.unlink()
