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
    """Entry of a list of kernels: a kernel that Python called with these types.

    Attributes
    ----------
    function : "module:name" of the kernel
    types : types of the arguments, as text by `write_types`
    seconds : time to compile it with its callees, except for those that an earlier kernel calls
    count : number of kernels compiled in that time, this one and its callees
    vectors : vectors of the processors that call it: "all", "wide" (64 bytes) or "narrow"
    """

    function: str
    types: str
    seconds: float = 0.0
    count: int = 1
    vectors: str = ALL

    @property
    def key(self) -> str:
        """Function and types: identity of the kernel in lists."""
        return f"{self.function} {self.types}"

    def line(self) -> str:
        """Return the kernel's line in a file of lists."""
        return f"{self.seconds:.2f} {self.count} {self.vectors} {self.key}\n"


@dataclass(frozen=True)
class KernelList:
    """Kernels that recorded runs of a command called.

    Attributes
    ----------
    command : first word of the command
    runs : warm-up runs that called these kernels
    kernels : kernels in the order of their first calls
    """

    command: str
    runs: tuple[str, ...]
    kernels: tuple[ListedKernel, ...]

    def text(self) -> str:
        """Return the lines of this list in a file of lists."""
        lines = "".join(kernel.line() for kernel in self.kernels)
        return f"\n[{self.command}] {'; '.join(self.runs)}\n{lines}"


def write_lists(path: Path, lists: Iterable[KernelList]) -> None:
    """Write a file with the kernel lists of a domain, such as genomics."""
    path.write_text(HEAD + "".join(found.text() for found in lists), encoding="ascii")


def read_lists(path: Path) -> Iterator[KernelList]:
    """Yield the kernel lists of a file; raise ValueError if it has another format."""
    for part in path.read_text(encoding="ascii").split("\n[")[1:]:
        head, *lines = part.splitlines()
        command, _, runs = head.partition("] ")
        yield KernelList(command, tuple(runs.split("; ")), tuple(map(parse_line, lines)))


def parse_line(line: str) -> ListedKernel:
    """Parse the result of `ListedKernel.line`."""
    seconds, count, vectors, function, types = line.rstrip("\n").split(" ", 4)
    return ListedKernel(function, types, float(seconds), int(count), vectors)


@lru_cache
def lists_of(command: str) -> tuple[KernelList, ...]:
    """Return the kernel lists of a command from all installed domains."""
    every = (found for path in list_files().values() for found in read_lists(path))
    return tuple(found for found in every if found.command == command)


def list_files() -> dict[str, Path]:
    """Return the files of kernel lists by domain name, without importing the warm-up runs."""
    modules = {
        name: several[0].module for name, several in entry_points.find_entries(GROUP).items()
    }
    specs = {name: find_spec(module) for name, module in modules.items()}
    origins = {name: spec.origin for name, spec in specs.items() if spec and spec.origin}
    paths = {name: Path(origin).with_suffix(SUFFIX) for name, origin in origins.items()}
    return {name: path for name, path in paths.items() if path.is_file()}
