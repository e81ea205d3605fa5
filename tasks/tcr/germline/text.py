"""Text of small files and pipes: FASTA and tables, compressed or not."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import STDIN, read_blocks

MOST_BYTES = 1 << 26  # several times the genes of all species in IMGT; limits decompression bombs


def read_decompressed_text(path: Path) -> str:
    """Return the decompressed text of a file or pipe, with line feeds as line ends.

    The file is opened once; "-" is standard input.

    Raises
    ------
    BadParams : the file does not exist, is a folder, is no text or has more than MOST_BYTES, or its
        compressed data are damaged or truncated
    """
    raw = _read(path)
    if b"\0" in raw[:4096]:
        raise BadParams(f"{path} is no text: give a FASTA or a table (TSV, CSV), packed or not")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadParams(f"{path}, line {line}: is not UTF-8; save it as such") from None
    if not text.strip():
        raise BadParams(f"{path} is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(path: Path) -> bytes:
    if not path.exists() and str(path) != STDIN:
        raise BadParams(f"{path}: no such file")
    if path.is_dir():
        raise BadParams(f"{path} is a folder: name the files in it")
    found = bytearray()
    try:
        with closing(read_blocks(str(path))) as blocks:
            for block in blocks:
                found += block.data
                if len(found) > MOST_BYTES:
                    raise BadParams(f"{path}: more than {MOST_BYTES >> 20} MB are no germline")
    except OSError as error:
        raise BadParams(f"{path}: {error.strerror or error}") from None
    return bytes(found)
