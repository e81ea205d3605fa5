"""Genomes: bits a base and speeds of one core for each mode of the codec, beside other programs."""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gangsaw.codecs import Dna
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.dna.params import MODES
from gangsaw.codecs.dna.samples import genome
from gangsaw.tasks.bench.table import Row, call_seconds, cpu_seconds, say

Text = npt.NDArray[np.uint8]

ROUNDS = 3
# files of the shared folder, and bits a base that are asked of the mode `dense`
GENOMES = {
    "phiX174": ("phix174.fa.gz", None),
    "human mitochondrion": ("human_mito.fa.gz", None),
    "orangutan mitochondrion": ("orangutan_mito.fa.gz", None),
    "SARS-CoV-2": ("sars2_MN908947.fa.gz", None),
    "lambda": ("lambda_NC_001416.fa.gz", None),
    "tobacco chloroplast": ("CHNTXX_Z00044.gb.gz", 1.63),
    "yeast chr I": ("yeast_chrI_R64.fa.gz", 1.885),
    "human 1M": ("human_region_1Mb.fa.gz", 1.83),
    "E. coli": ("ecoli_K12_MG1655.fna.gz", 1.910),
}
LARGE, SMALL_MADE = 1 << 25, 1 << 20  # letters of a made genome; where there are no shared ones
MASKED, FAR = 300, 1 << 20  # letters of a run of lower case, and between two runs of N
LEAST = 1 << 20  # bases of a genome on which a speed is asked
DENSE_SPEED = ">= 6"  # Mbases/s
SPEEDS = {"pack": ">= 1", "gencodex": ""}  # of memcpy's, both ways


def rows() -> Iterator[Row]:
    """Yield bits and speeds of each genome and mode, then speeds on a chunk that fills no cache."""
    set_thread_limit(1)
    yield Row("threads that ran on the machine when this began", os.getloadavg()[0], "on average")
    for name, (text, asked) in (shared() or made()).items():
        say(name)
        for mode in MODES:
            yield from _mode(name, text, mode)
        if asked is not None:
            yield _bases(name, text, asked)
        yield from _peers(name, text)
    for name, text in {"made bases": large(), "made bases, masked": masked()}.items():
        say(name)
        yield from _from_memory(name, text)


def shared() -> dict[str, tuple[Text, float | None]]:
    """Return the genomes that are in the shared folder, and what is asked of each."""
    folder = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/genomes/assemblies"
    paths = {name: (folder / file, asked) for name, (file, asked) in GENOMES.items()}
    return {
        name: (sequence_of(path), asked) for name, (path, asked) in paths.items() if path.is_file()
    }


def made() -> dict[str, tuple[Text, float | None]]:
    """Return what stands for genomes where there are none: random bases with a repeat."""
    return {"made 1M": (genome(np.random.default_rng(1), SMALL_MADE), None)}


def sequence_of(path: Path) -> Text:
    """Return the letters of a FASTA or a GenBank file as they stand there."""
    lines = gzip.decompress(path.read_bytes()).split(b"\n")
    if ".gb" in path.suffixes:
        lines = lines[lines.index(next(line for line in lines if line.startswith(b"ORIGIN"))) + 1 :]
        letters = b"".join(lines).translate(None, b" 0123456789/\r").upper()
    else:
        letters = b"".join(line.rstrip() for line in lines if not line.startswith(b">"))
    return np.frombuffer(letters, np.uint8)


def large() -> Text:
    """Return bases of a chunk."""
    return np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(2).integers(0, 4, LARGE)]


def masked() -> Text:
    """Return bases of a chunk, half of them lower case as masked repeats are, with runs of N."""
    rng, text = np.random.default_rng(3), large()
    lengths = rng.exponential(MASKED, LARGE // MASKED).astype(int) + 1
    edges = np.minimum(np.cumsum(lengths), LARGE).tolist()
    for begin, end in zip(edges[::2], edges[1::2], strict=False):
        text[begin:end] |= 32
    for begin in range(0, LARGE, FAR):
        text[begin : begin + int(rng.integers(1, FAR // 50))] = ord("N")
    return text


def bases_of(text: Text) -> int:
    """Return how many letters are A, C, G or T of either case."""
    return int(np.isin(text, np.frombuffer(b"ACGTacgt", np.uint8)).sum())


def coded(text: Text, mode: str) -> tuple[bytes, Text]:
    """Return a frame, and the memory that it was decoded to and compared."""
    codec, out = Dna(mode=mode), np.empty_like(text)
    frame = codec.encode_chunk(text)
    codec.decode_chunk(frame, out)
    assert (out == text).all()
    return bytes(frame), out


def _bases(name: str, text: Text, asked: float) -> Row:
    """Return the row of `dense` on bases alone, as the sheet's figures are."""
    upper = np.frombuffer(text.tobytes().upper(), np.uint8)
    bases = upper[np.isin(upper, np.frombuffer(b"ACGT", np.uint8))]
    bits, others = 8 * len(coded(bases, "dense")[0]) / bases.size, text.size - bases.size
    note = f"without the {others} others" if others else ""
    return Row(f"{name}, dense, bases alone", bits, "bits a base", f"<= {asked}", note)


def _mode(name: str, text: Text, mode: str) -> Iterator[Row]:
    codec, n = Dna(mode=mode), bases_of(text)
    frame, out = coded(text, mode)
    yield Row(f"{name}, {mode}", 8 * len(frame) / n, "bits a base")
    speed = DENSE_SPEED if mode == "dense" and n >= LEAST else ""
    yield _speed(f"{name}, {mode}, encode", n, lambda _: codec.encode_chunk(text), speed)
    yield _speed(f"{name}, {mode}, decode", n, lambda _: codec.decode_chunk(frame, out), speed)


def _speed(what: str, n: int, work: Callable[[None], object], asked: str = "") -> Row:
    spans = sorted(call_seconds(work, None)[1] for _ in range(ROUNDS))
    return Row(what, n / 1e6 / spans[ROUNDS // 2], "Mbases/s", asked)


def _peers(name: str, text: Text) -> Iterator[Row]:
    """Yield bits and speeds of zstd and xz, which know nothing of bases."""
    from numcodecs import Zstd

    data, n = text.tobytes(), bases_of(text)
    peers: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
        f"zstd -{level}": (Zstd(level=level).encode, Zstd(level=level).decode) for level in (3, 19)
    }
    peers["xz -6"] = (partial(lzma.compress, preset=6), lzma.decompress)
    for peer, (encode, decode) in peers.items():
        stored, spent = call_seconds(encode, data)
        back, again = call_seconds(decode, stored)
        assert bytes(back) == data
        yield Row(f"{name}, {peer}", 8 * len(stored) / n, "bits a base")
        yield Row(f"{name}, {peer}, encode", n / 1e6 / spent, "Mbases/s")
        yield Row(f"{name}, {peer}, decode", n / 1e6 / again, "Mbases/s")


def _from_memory(name: str, text: Text) -> Iterator[Row]:
    """Yield speeds on a chunk of 32 MiB, as often as a copy of it in the same rounds."""
    for mode in (mode for mode in MODES if mode in SPEEDS):
        codec = Dna(mode=mode)
        frame, out = coded(text, mode)
        works = {"encode": partial(codec.encode_chunk, text)}
        works["decode"] = partial(codec.decode_chunk, frame, out)
        for word, work in works.items():
            copy = cpu_seconds(partial(np.copyto, out, text), 3 * ROUNDS)
            spent = cpu_seconds(work, 3 * ROUNDS)
            asked = SPEEDS[mode] if name == "made bases" else ""
            note = f"{text.size / spent / 1e9:.3g} GB/s of text; memcpy to memory in use "
            note += f"{text.size / copy / 1e9:.3g}"
            yield Row(f"{name}, 32 MiB, {mode}, {word}", copy / spent, "memcpy", asked, note)
