"""Check of the sizes in FITS headers against the file, before a library trusts them.

The size of the data after a header is given by the FITS Standard 4.0, equations 1 and 2 with 4.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import BinaryIO

from gangsaw.codecs.core.errors import BadParams

BLOCK, CARD = 2880, 80  # bytes; headers and data are padded to whole blocks
MOST_AXES = 999  # limit of the FITS standard
SIZES = ("BITPIX", "NAXIS", "PCOUNT", "GCOUNT", "GROUPS")

Cards = dict[str, str]


def check_fits_headers(path: str) -> None:
    """Raise BadParams if FITS headers are damaged or claim more bytes than the file has.

    FITS does not define the bytes after the last extension.
    """
    end = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        while (start := file.tell()) < end and (cards := _cards(path, file, is_first=not start)):
            need = _data_bytes(path, cards)
            begin = file.tell()
            if need > end - begin:
                raise BadParams(
                    f"{path} is truncated: the header at byte {start} claims {need:,} bytes of "
                    f"data, the file has {end - begin:,} after it; copy it again"
                )
            file.seek(begin + -(-need // BLOCK) * BLOCK)


def _cards(path: str, file: BinaryIO, *, is_first: bool) -> Cards:
    """Return the values of the size keywords of a header; empty if no header begins here."""
    found: Cards = {}
    while len(block := file.read(BLOCK)) == BLOCK:
        if not found and not is_first and not block.startswith(b"XTENSION"):
            return {}
        for at in range(0, BLOCK, CARD):
            card = block[at : at + CARD].decode("ascii", "replace")
            keyword = card[:8].rstrip()
            if keyword == "END":
                return {"END": "", **found}
            if keyword in SIZES or keyword.startswith("NAXIS"):
                found.setdefault(keyword, card[10:].partition("/")[0].strip())
        found.setdefault("END", "")
    raise BadParams(f"{path} is truncated: a header has no END; copy it again")


def _data_bytes(path: str, cards: Cards) -> int:
    """Return the bytes of the data that a header describes, without padding."""
    n_axes = _number(path, cards, "NAXIS", 0, MOST_AXES)
    axes = [_number(path, cards, f"NAXIS{i}") for i in range(1, n_axes + 1)]
    if cards.get("GROUPS") == "T" and axes[:1] == [0]:
        axes = axes[1:]
    parameters, groups = (_number(path, cards, k, d) for k, d in (("PCOUNT", 0), ("GCOUNT", 1)))
    width = abs(_number(path, cards, "BITPIX", least=-64)) // 8
    return width * groups * (parameters + math.prod(axes)) if axes else 0


def _number(
    path: str,
    cards: Cards,
    key: str,
    default: int | None = None,
    most: int | None = None,
    *,
    least: int = 0,
) -> int:
    text = cards.get(key, "" if default is None else str(default))
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least or (most is not None and value > most):
        raise BadParams(
            f"{path}: {key} in a header must be a whole number from {least}, got {text!r}"
        )
    return value
