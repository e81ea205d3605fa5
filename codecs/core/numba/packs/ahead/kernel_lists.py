"""Lists of the kernels that commands compile, one file next to the warm-up runs of each domain.

    [compress] FASTQ of binned qualities; FASTQ of many qualities
    0.52 3 all gangsaw.codecs.core.entropy.rans_lanes:encode_lane (uint16[1C], int64)

A list is a command with its recorded runs, then its kernels in the order of their calls. A line has
the seconds to compile and the number of kernels compiled with it. Then come vectors ("wide" has 64
bytes, "narrow" fewer), function, and types of arguments.

A line that matches nothing in this version is skipped, and only its kernel is not compiled ahead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from gangsaw.codecs.core.plugins import entry_points

GROUP = "gangsaw.first_runs"  # modules of these entry points have their list next to them
SUFFIX = ".txt"
ALL, WIDE, NARROW = "all", "wide", "narrow"
HEAD = "# Kernels that first runs of this folder call. Written by `gangsaw kernels list --write`.\n"


@dataclass(frozen=True)
class ListedKernel:
    """Kernel that Python calls, in a list.

    Attributes
    ----------
    function : module and name
    types : of its arguments, by `write_types`
    seconds : time to compile it with its callees, except for those that an earlier kernel calls
    count : number of kernels that are compiled then
    vectors : of processors that call it: "all", "wide" or "narrow"
    """

    function: str
    types: str
    seconds: float = 0.0
    count: int = 1
    vectors: str = ALL

    @property
    def key(self) -> str:
        """Identity of the kernel, without its cost."""
        return f"{self.function} {self.types}"

    def line(self) -> str:
        """Return the kernel's line in a file."""
        return f"{self.seconds:.2f} {self.count} {self.vectors} {self.key}\n"


@dataclass(frozen=True)
class KernelList:
    """Kernels of a command.

    Attributes
    ----------
    command : its first word
    runs : warm-up runs that called these kernels
    kernels : in the order of their calls
    """

    command: str
    runs: tuple[str, ...]
    kernels: tuple[ListedKernel, ...]

    def text(self) -> str:
        """Return the list's lines in a file."""
        lines = "".join(kernel.line() for kernel in self.kernels)
        return f"\n[{self.command}] {'; '.join(self.runs)}\n{lines}"


def write_lists(path: Path, lists: Iterable[KernelList]) -> None:
    """Write the lists of a domain."""
    path.write_text(HEAD + "".join(found.text() for found in lists), encoding="ascii")


def read_lists(path: Path) -> Iterator[KernelList]:
    """Yield the lists of a file; raise ValueError if it has another format."""
    for part in path.read_text(encoding="ascii").split("\n[")[1:]:
        head, *lines = part.splitlines()
        command, _, runs = head.partition("] ")
        yield KernelList(command, tuple(runs.split("; ")), tuple(map(parse_line, lines)))


def parse_line(line: str) -> ListedKernel:
    """Return the kernel of a line."""
    seconds, count, vectors, function, types = line.rstrip("\n").split(" ", 4)
    return ListedKernel(function, types, float(seconds), int(count), vectors)


@lru_cache
def lists_of(command: str) -> tuple[KernelList, ...]:
    """Return the lists of a command from all installed domains."""
    every = (found for path in list_files().values() for found in read_lists(path))
    return tuple(found for found in every if found.command == command)


def list_files() -> dict[str, Path]:
    """Return the files of lists by the names of their domains, without importing warm-up runs."""
    modules = {
        name: several[0].module for name, several in entry_points.find_entries(GROUP).items()
    }
    specs = {name: find_spec(module) for name, module in modules.items()}
    origins = {name: spec.origin for name, spec in specs.items() if spec and spec.origin}
    paths = {name: Path(origin).with_suffix(SUFFIX) for name, origin in origins.items()}
    return {name: path for name, path in paths.items() if path.is_file()}
