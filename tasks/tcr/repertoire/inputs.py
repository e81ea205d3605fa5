"""Input files of a job, with their display names and samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat.flat_array import file_identity
from gangsaw.tasks.store.objects.versions import file_versions
from gangsaw.tasks.tcr.repertoire.opening import sample_name


@dataclass(frozen=True)
class Input:
    """Input file of a job.

    Attributes
    ----------
    number : position among all files
    name : path as given by the user
    path : absolute path, since workers may have another current directory
    sample : sample of rows that name none
    """

    number: int
    name: str
    path: str
    sample: str

    def __str__(self) -> str:
        """Return the display name used in messages."""
        return self.name

    def identity(self) -> str:
        """Return a string that identifies the file's content."""
        return f"{file_identity(self.path)} as {self.sample}"

    def versions(self) -> dict[str, str]:
        """Return the version of the file."""
        return file_versions(self.path)

    @property
    def n_bytes(self) -> int:
        """Size of the file in bytes."""
        return Path(self.path).stat().st_size


def open_inputs(
    paths: Sequence[str | Path], names: Sequence[str | Path] | None = None
) -> tuple[Input, ...]:
    """Return the input files of a job, in their order.

    The file name is the sample. If files in several folders have the same name, as with MiXCR, the
    sample also has the folders.

    Parameters
    ----------
    paths : list of paths
        Paths of the files.
    names : list of paths, optional
        Display names for messages. None takes the paths.

    Returns
    -------
    tuple of Input
        Description of each file. A job takes all of them.

    Raises
    ------
    BadParams
        Files do not exist, all of which the message names, or one is given twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> from gangsaw import tcr
    >>> Path("donor1.tsv").touch()
    >>> tcr.open_inputs(["donor1.tsv"])[0].sample
    'donor1'
    """
    absolute = [Path(path).absolute() for path in paths]
    if missing := [
        f"{name}: {'it is a folder, name the tables in it' if path.is_dir() else 'no such file'}"
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
        for i, (name, path, sample) in enumerate(
            zip(names or paths, absolute, samples, strict=True)
        )
    )


def _samples(paths: Sequence[Path]) -> list[str]:
    """Return the shortest distinct names of files: a, or folder/a if several have that name."""
    names = [sample_name(path) for path in paths]
    folders = [path.parent for path in paths]
    while alike := {name for name, n in Counter(names).items() if n > 1}:
        for i, name in enumerate(names):
            if name in alike and folders[i].name:
                names[i], folders[i] = f"{folders[i].name}/{name}", folders[i].parent
            elif name in alike:
                names[i] = str(paths[i])  # the folder has both .tsv and .tsv.gz
    return names
