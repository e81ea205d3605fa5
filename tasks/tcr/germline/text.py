"""Text of small files: FASTA and tables, gzipped or not."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams

MOST_BYTES = 1 << 26  # several times all genes of all species in IMGT; a decompression bomb is more
_GZ = b"\x1f\x8b"


def read_text(path: Path) -> str:
    """Return the text of a file, unpacked, with lines that end in a line feed.

    Raises
    ------
    BadParams : there is none, it is a folder, it holds no text, or more than MOST_BYTES of it, or
        its gz is damaged or cut off
    """
    raw = _unpacked(path, _read(path))
    if len(raw) > MOST_BYTES:
        raise BadParams(f"{path}: more than {MOST_BYTES >> 20} MB are no germline")
    if b"\0" in raw[:4096]:
        raise BadParams(f"{path} is no text: give a FASTA or a table (TSV, CSV), gz or not")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadParams(f"{path}, line {line}: is not UTF-8; save it as such") from None
    if not text.strip():
        raise BadParams(f"{path} is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise BadParams(f"{path}: no such file") from None
    except IsADirectoryError:
        raise BadParams(f"{path} is a folder: name the files in it") from None
    except OSError as error:
        raise BadParams(f"{path}: {error.strerror or error}") from None


def _unpacked(path: Path, raw: bytes) -> bytes:
    if not raw.startswith(_GZ):
        return raw
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            return file.read(MOST_BYTES + 1)
    except EOFError:
        raise BadParams(f"{path} is cut off: its gz has no end; copy it again") from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise BadParams(f"{path}: its gz is damaged: {error}; copy it again") from None
