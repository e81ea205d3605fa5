"""Search for the second file of an ENVI image: the header of a data file, or the reverse."""

from __future__ import annotations

from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import join_words

DATA_SUFFIXES = ("dat", "img", "raw", "bsq", "bil", "bip", "bin", "sli", "hyspex")
MOST_NAMES = 8  # file names listed in one message


def is_header(path: Path) -> bool:
    """Return True for a header: suffix .hdr, or content "ENVI" in a file without a header."""
    if path.suffix.lower() == ".hdr":
        return True
    if headers_of(path):
        return False
    with path.open("rb") as file:
        return file.read(4) == b"ENVI"


def headers_of(data: Path) -> list[Path]:
    """Return the headers of a data file: data.img.hdr, else data.hdr.

    There are several if their names differ only in the case of the suffix.
    """
    for name in (data.name, data.stem):
        found: list[Path] = []
        for suffix in (".hdr", ".HDR", ".Hdr"):
            path = data.with_name(name + suffix)
            if path.is_file() and not _is_among(path, found):
                found.append(path)
        if found:
            return found
    return []


def find_header_file(data: Path) -> Path:
    """Return the header of a data file; raise BadParams if there is none, or several."""
    found = headers_of(data)
    if not found:
        names = f"{data.name}.hdr or {data.stem}.hdr"
        raise BadParams(f"{data} has no ENVI header: put it next to the data, as {names}")
    if found[1:]:
        names = join_words([path.name for path in found])
        raise BadParams(f"{data} has several headers, {names}: rename all but its own")
    return found[0]


def find_data(header: Path, n_bytes: int) -> Path:
    """Return the data file of a header, whose samples end after `n_bytes` bytes.

    The only candidate of exactly that size is selected. A single candidate may have another size
    if its suffix is one of data files: it may be truncated, or contain more bytes.

    Raises BadParams with the candidates if none or several of them match.
    """
    found = [path for path in _find_data_files(header) if not _has_own_header(path, header)]
    fitting = [path for path in found if path.stat().st_size == n_bytes]
    if len(fitting) == 1:
        return fitting[0]
    if len(found) == 1 and _is_known(found[0], header):
        return found[0]
    if not found:
        stem = header.stem
        raise BadParams(
            f"{header} has no data file: put it next to the header, as {stem} or {stem}.img"
        )
    if fitting:
        what = f"{_names(fitting)} have the {n_bytes} bytes that it describes"
        raise BadParams(f"{header} may be the header of several files: {what}; name the data file")
    sizes = [f"{path.name} ({path.stat().st_size} bytes)" for path in found[:MOST_NAMES]]
    raise BadParams(
        f"{header} describes {n_bytes} bytes, which no file of its name has: "
        f"{join_words(sizes)}; name the data file"
    )


def existing_data(header: Path) -> Path | None:
    """Return the file that other readers would choose as the data of a header, or None."""
    stem = header.with_suffix("")
    suffixes = [s for suffix in DATA_SUFFIXES for s in (f".{suffix}", f".{suffix.upper()}")]
    candidates = (stem, *(stem.with_name(stem.name + s) for s in suffixes))
    return next((path for path in candidates if path.is_file()), None)


def _find_data_files(header: Path) -> list[Path]:
    """Return the files with the name of the header and another suffix, or none."""
    named = (path for path in header.parent.iterdir() if header.stem in (path.name, path.stem))
    found: list[Path] = []
    for path in sorted(named):
        is_one = path.is_file() and path.suffix.lower() != ".hdr" and not path.samefile(header)
        if is_one and not _is_among(path, found):
            found.append(path)
    return found


def _is_among(path: Path, others: list[Path]) -> bool:
    """Return True if a path is the same file as another, by a link or a case-blind file system."""
    return any(path.samefile(other) for other in others)


def _has_own_header(data: Path, header: Path) -> bool:
    """Return True if a data file such as data.img has its own header data.img.hdr."""
    own = headers_of(data)
    return bool(own) and own[0].stem == data.name and not _is_among(header, own)


def _is_known(data: Path, header: Path) -> bool:
    return data.name == header.stem or data.suffix.lstrip(".").lower() in DATA_SUFFIXES


def _names(paths: list[Path]) -> str:
    return join_words([path.name for path in paths[:MOST_NAMES]])
