"""The files of a job: what each is called, and which sample its rows belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat import file_identity
from gangsaw.tasks.store.stamps import file_stamps
from gangsaw.tasks.tcr.repertoire.opening import sample_name


@dataclass(frozen=True)
class Input:
    """A file to read.

    Attributes
    ----------
    number : place among all files
    name : as the user gave it
    path : absolute, since workers may have another current directory
    sample : of rows that name none
    """

    number: int
    name: str
    path: str
    sample: str

    def __str__(self) -> str:
        """Return what messages call it."""
        return self.name

    def identity(self) -> str:
        """What identifies its content."""
        return f"{file_identity(self.path)} as {self.sample}"

    def stamps(self) -> dict[str, str]:
        """What changes with the file."""
        return file_stamps(self.path)

    @property
    def n_bytes(self) -> int:
        """Bytes of the file."""
        return Path(self.path).stat().st_size


def open_inputs(paths: Sequence[str | Path]) -> tuple[Input, ...]:
    """Return the files of a job, in their order.

    A file names its sample; of files that are called alike in several folders, as MiXCR leaves
    them, the folders do so, too.

    Raises
    ------
    BadParams : names all files that are not there, or one that is given twice
    """
    absolute = [Path(path).absolute() for path in paths]
    if missing := [
        f"{name}: {'it is a folder' if path.is_dir() else 'no such file'}"
        for name, path in zip(paths, absolute, strict=True)
        if not path.is_file()
    ]:
        raise BadParams("; ".join(missing))
    again = [str(path) for path, n in Counter(p.resolve() for p in absolute).items() if n > 1]
    if again:
        raise BadParams(f"{again[0]} is given twice: its rows would count twice")
    samples = _samples(absolute)
    return tuple(
        Input(i, str(name), str(path), sample)
        for i, (name, path, sample) in enumerate(zip(paths, absolute, samples, strict=True))
    )


def _samples(paths: Sequence[Path]) -> list[str]:
    """Return the shortest names by which files differ: a, or of several such folder/a."""
    names = [sample_name(path) for path in paths]
    folders = [path.parent for path in paths]
    while alike := {name for name, n in Counter(names).items() if n > 1}:
        for i, name in enumerate(names):
            if name in alike and folders[i].name:
                names[i], folders[i] = f"{folders[i].name}/{name}", folders[i].parent
            elif name in alike:
                names[i] = str(paths[i])  # the same folder has it as .tsv and .tsv.gz
    return names
