"""The note in a file of visibilities that some of its samples are filled."""

from __future__ import annotations

import shutil
from pathlib import Path

from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.store.damage import INCOMPLETE

BLOCK, CARD = 2880, 80  # bytes, of a header of FITS
CARD_TEXT = 70  # of a text in a card


def write_incomplete_note(path: Path, kind: str, text: str) -> None:
    """Write a note into a file: as an HDF5 attribute, a table keyword, or in the FITS history."""
    if kind == "ms":
        _mark_table(path, text)
    elif kind == "uvfits":
        _mark_header(path, text)
    else:
        import h5py

        with h5py.File(path, "r+") as file:
            file.attrs[INCOMPLETE] = text


def _mark_table(path: Path, text: str) -> None:
    with extras_named(str(path)):
        from casacore.tables import table

    with table(str(path), ack=False, readonly=False) as main:
        main.putkeyword(INCOMPLETE, text)


def _mark_header(path: Path, text: str) -> None:
    """Add cards HISTORY before END, and blocks of the header where these do not fit.

    By hand: astropy would scale the samples of random groups when it writes the file again.
    """
    header, end = b"", -1
    with path.open("rb") as file:
        while end < 0 and (block := file.read(BLOCK)):
            ends = (at for at in range(0, len(block), CARD) if block[at:][:CARD].rstrip() == b"END")
            end = next((len(header) + at for at in ends), -1)
            header += block
    plain = f"{INCOMPLETE}: {text}".encode("ascii", "replace")
    parts = (plain[at : at + CARD_TEXT] for at in range(0, len(plain), CARD_TEXT))
    cards = b"".join(b"HISTORY " + part.ljust(CARD_TEXT + 2) for part in parts)
    longer = header[:end] + cards + b"END".ljust(CARD)
    longer = longer.ljust(-(-len(longer) // BLOCK) * BLOCK)
    if len(longer) == len(header):
        with path.open("r+b") as file:
            file.write(longer)
        return
    new = path.with_name(f"{path.name}.marked")
    with path.open("rb") as old, new.open("wb") as made:
        old.seek(len(header))
        made.write(longer)
        shutil.copyfileobj(old, made)
    new.replace(path)
