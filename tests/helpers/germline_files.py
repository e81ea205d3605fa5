"""Small germlines in files, and what is read of them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

from gangsaw.tasks.tcr.germline import Germline, open_germline

BODY = "GAA" * 20  # of a V gene before its motif, open in frame 0
V = BODY + "TATTTCTGT" + "GCCAGCAGC"
J = "CAAACACAGAAGTC" + "TTCTTTGGAGAAGGCACCAGACTC" + "A"
FASTA = f">TRBV1*01\n{V}\n>TRBD1*01\nGGGACAGGGGGC\n>TRBJ1-1*01\n{J}\n"

Write = Callable[..., Path]


def written(folder: Path, text: str | bytes, name: str = "genes.fasta") -> Path:
    """Write a file, .gz if so named; return its path."""
    raw = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return folder / name


def imgt(name: str, species: str, region: str, sequence: str, frame: str = "1") -> str:
    fields = ["X0001", name, species, "F", region, "1..9", "9 nt", frame, "", "", "", "", ""]
    return f">{'|'.join(fields)} |\n{sequence}\n"


def opened(path: str | Path, **choices: str) -> Germline:
    return open_germline(path, **{"locus": "TRB", **choices})  # type: ignore[arg-type]


def parts(germline: Germline) -> dict[str, str]:
    return {part.name: part.sequence for part in germline.v + germline.d + germline.j}


def note_on(germline: Germline, name: str) -> str:
    (note,) = (note for note in germline.notes if note.startswith(f"{name} "))
    return note
