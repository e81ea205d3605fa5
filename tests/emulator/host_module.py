"""CUDA sources compiled for the host and launched like CuPy's `RawModule`: see README.md."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from emulator.memory import Allocation, allocations

HOST = Path(__file__).parent / "host"
BOUNDS = re.compile(r"__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)")
KERNEL = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(\w+)\s*\(')
FLAGS = ("-std=c++17", "-fPIC", "-w", "-fno-strict-aliasing", "-ffp-contract=off", "-g1")
CHECKED = (
    "-O1",
    "-fno-finite-loops",  # an endless loop is to be found, not left out
    "-fsanitize=thread",
    "-fsanitize=shift-exponent,bounds,integer-divide-by-zero,signed-integer-overflow,return",
    "-fsanitize-coverage=trace-pc",
    "--param=tsan-instrument-func-entry-exit=0",
)
UNCHECKED = ("-O2",)
MAX_PARAMETERS = 128


class KernelFault(RuntimeError):
    """What a device would fault on, hang on, or get wrong: the message says which, and where."""


@dataclass(frozen=True)
class Schedule:
    """How kernels are run.

    seed : 0 runs blocks and threads in order, 1 in reverse; others shuffle them, and take a
        thread's turn away at any branch
    checks : whether every access is checked; else a kernel runs some ten times as fast
    poison : byte that fills shared memory before each block, and new device memory
    steps : branches that a thread may pass, in checked kernels, before it counts as endless
    """

    seed: int = 0
    checks: bool = True
    poison: int = 0xCD
    steps: int = 1 << 30


_schedule = Schedule(seed=int(os.environ.get("GANGSAW_EMULATION_SEED", "0")))


@contextmanager
def schedule(**changes: Any) -> Iterator[Schedule]:
    """Run the kernels of the body under a changed `Schedule`."""
    global _schedule
    before, _schedule = _schedule, replace(_schedule, **changes)
    try:
        yield _schedule
    finally:
        _schedule = before


def current_schedule() -> Schedule:
    """Return the schedule that kernels are run by."""
    return _schedule


class Launch(ctypes.Structure):
    """`Launch` of host/launch.h."""

    _fields_ = (
        ("kernel", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("poison", ctypes.c_int),
        ("seed", ctypes.c_uint64),
        ("steps", ctypes.c_uint64),
        ("allocations", ctypes.POINTER(Allocation)),
        ("n_allocations", ctypes.c_size_t),
        ("stacks", ctypes.c_void_p),
    )


class HostModule:
    """The kernels of a CUDA source, specialised by `options`: its `-D` and `-std` are taken.

    Each schedule, checked or not, is compiled when a kernel is first launched by it.
    """

    def __init__(self, source: str, options: Sequence[str] = ()) -> None:
        self.source = source
        self.options = tuple(option for option in options if option.startswith(("-D", "-std")))
        self.names = tuple(KERNEL.findall(BOUNDS.sub("", source)))
        self._libraries: dict[bool, Library] = {}

    def get_function(self, name: str) -> HostKernel:
        """Return the kernel of that name.

        Raises
        ------
        KeyError : the source has none
        """
        if name not in self.names:
            raise KeyError(f'no extern "C" __global__ {name} in the source: {self.names}')
        return HostKernel(self, name)

    def compile(self) -> None:
        """Compile for the schedule that is set.

        Raises
        ------
        RuntimeError : what the compiler says
        """
        self.library(checks=_schedule.checks)

    def library(self, *, checks: bool) -> Library:
        """Return the compiled source."""
        with _loading:
            if checks not in self._libraries:
                path = _compiled(self, checks)
                self._libraries[checks] = _loaded.setdefault(path, Library(path))
            return self._libraries[checks]


class Library:
    """One compiled source. Fibers are static: one launch at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.symbols = ctypes.CDLL(str(path))
        self.symbols.emulation_run.restype = ctypes.c_char_p
        self.symbols.emulation_failed_at.restype = ctypes.c_size_t
        self.symbols.emulation_stacks.restype = ctypes.c_void_p

    def parameters(self, name: str) -> list[tuple[str, int]]:
        """Return kind ("p" pointer, else as NumPy's) and size in bytes of each parameter."""
        kinds = (ctypes.c_char * MAX_PARAMETERS)()
        sizes = (ctypes.c_ubyte * MAX_PARAMETERS)()
        with _running:  # it is checked code, too
            count = self.symbols[f"describe_{name}"](kinds, sizes)
        return [(kinds[i].decode(), sizes[i]) for i in range(count)]

    def place(self) -> str:
        """Return the source lines that the last failure came from, innermost first."""
        at = self.symbols.emulation_failed_at()
        if not at or not shutil.which("addr2line"):
            return ""
        command = ["addr2line", "-i", "-e", str(self.path), hex(at)]
        lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        source = self.path.with_suffix(".cu").read_text().splitlines()[2:]
        numbers = [int(found) for found in re.findall(r"\.cu:(\d+)", lines)]
        return "".join(
            f"\n  line {n}: {source[n - 1].strip()}" for n in numbers if n <= len(source)
        )


class HostKernel:
    """A kernel; called like CuPy's `RawKernel`."""

    def __init__(self, module: HostModule, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
    ) -> None:
        """Run the kernel to its end.

        Raises
        ------
        TypeError : the arguments are not what the kernel takes
        KernelFault : see there
        """
        how = _schedule
        library = self.module.library(checks=how.checks)
        keep = self.check(args)
        pointers = (ctypes.c_void_p * len(keep))(*map(ctypes.addressof, keep))
        table = allocations(args)
        launch = Launch(
            ctypes.cast(library.symbols[f"run_{self.name}"], ctypes.c_void_p),
            ctypes.cast(pointers, ctypes.c_void_p),
            (ctypes.c_uint * 3)(*_three(grid)),
            (ctypes.c_uint * 3)(*_three(block)),
            shared_mem,
            how.poison,
            how.seed,
            how.steps if how.checks else 0,
            table,
            len(table),
            _stacks(library),
        )
        with _running:
            failure = library.symbols.emulation_run(ctypes.byref(launch))
            if failure is not None:
                raise KernelFault(f"{self.name}: {failure.decode()}{library.place()}")

    def check(self, args: Sequence[Any]) -> list[Any]:
        """Return the bytes of the arguments.

        Raises
        ------
        TypeError : they are not what the kernel takes
        """
        parameters = self.module.library(checks=_schedule.checks).parameters(self.name)
        if len(args) != len(parameters):
            raise TypeError(f"{self.name} takes {len(parameters)} arguments, got {len(args)}")
        return [
            _argument(f"{self.name}: argument {i}", value, *parameter)
            for i, (value, parameter) in enumerate(zip(args, parameters, strict=True))
        ]


def _three(extent: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (*extent, 1, 1)[:3]
    return int(x), int(y), int(z)


def _argument(what: str, value: Any, kind: str, size: int) -> Any:
    """Return the bytes of one argument; a device would read whatever lies there."""
    if isinstance(value, np.ndarray):
        if kind != "p":
            raise TypeError(f"{what} is an array, the kernel takes {kind}{size}")
        return ctypes.c_void_p(value.ctypes.data)
    if not isinstance(value, np.generic):
        raise TypeError(f"{what} is {type(value).__name__}: pass NumPy scalars of the exact type")
    expected = ("u", 8) if kind == "p" else (kind, size)
    if (value.dtype.kind, value.nbytes) not in (expected, ("i", 8) if kind == "p" else expected):
        raise TypeError(f"{what} is {value.dtype}, the kernel takes {kind}{size}")
    return (ctypes.c_char * value.nbytes).from_buffer_copy(value.tobytes())


def cache_folder() -> Path:
    """Return the folder of compiled sources: GANGSAW_EMULATION_CACHE, else a temporary one."""
    default = Path(tempfile.gettempdir()) / f"gangsaw-emulation-{os.getuid()}"
    folder = Path(os.environ.get("GANGSAW_EMULATION_CACHE", default))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _host_files() -> str:
    return "".join(path.read_text() for path in sorted(HOST.iterdir()))


def _key(*parts: object) -> str:
    return hashlib.sha256(repr((parts, _host_files())).encode()).hexdigest()[:24]


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")


def _compiled(module: HostModule, checks: bool) -> Path:
    flags = (*FLAGS, *(CHECKED if checks else UNCHECKED), *module.options)
    kernels = "".join(f"EMULATED_KERNEL({name})\n" for name in module.names)
    text = f"namespace {{\n#line 1\n{module.source}\n}}\n{kernels}"
    target = cache_folder() / f"{_key(text, flags)}.so"
    if not target.exists():
        source = target.with_suffix(".cu")
        _write(source, text)
        device = ("-x", "c++", "-include", str(HOST / "device.h"), str(source))
        runtime = [str(_runtime(name)) for name in ("fiber", "runtime", "checks")]
        _make(
            target,
            lambda path: ["g++", *flags, "-c", *device, "-o", f"{path}.o"],
            lambda path: ["g++", "-shared", f"{path}.o", *runtime, "-o", path],
        )
    return target


def _runtime(name: str) -> Path:
    """Return the object file of a part of the emulation, which itself is not checked."""
    target = cache_folder() / f"{_key(name, FLAGS)}.o"
    if not target.exists():
        source = str(HOST / f"{name}.cpp")
        hidden = "-fvisibility=hidden"
        _make(target, lambda path: ["g++", *FLAGS, "-O2", hidden, "-c", source, "-o", path])
    return target


def _make(target: Path, *commands: Any) -> None:
    """Run the commands on a name of our own, so that others never see half a file."""
    own = f"{target}.{os.getpid()}.{threading.get_ident()}"
    for command in commands:
        _run(command(own))
    Path(own).replace(target)
    Path(f"{own}.o").unlink(missing_ok=True)


def _write(path: Path, text: str) -> None:
    own = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    own.write_text(text)
    own.replace(path)


def _stacks(library: Library) -> int:
    """Return the address of the stacks of the process: one launch runs at a time."""
    with _loading:
        if not _shared:
            _shared.append(library.symbols.emulation_stacks() or 0)
        if not _shared[0]:
            raise MemoryError("no memory for the stacks of emulated threads")
        return _shared[0]


_shared: list[int] = []
_loaded: dict[Path, Library] = {}
_loading = threading.Lock()
_running = threading.Lock()
