"""Builder of packs: one file with the kernels that first runs compile for a level."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba.cache import cache_base
from gangsaw.codecs.core.numba.packs import gathering, levels, pack_files, packs
from gangsaw.tasks.precompile.running import (
    COMPILE,
    LISTED,
    KernelSetting,
    OnStep,
    run_all,
    tasks_of,
)

# these settings of Numba would change the code; a pack must run on any processor of its level
FOREIGN = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_ENABLE_AVX")


@dataclass(frozen=True)
class BuiltPack:
    """Result of building a pack: a file of compiled kernels for one level of CPU instructions.

    Attributes
    ----------
    level : name of the instruction level, such as "x86-64-v3"
    path : path of the file
    kernels : number of kernels in it
    nbytes : size of the file in bytes
    ran : True if its kernels were run; False if they were only compiled, since this processor lacks
        features of the level
    """

    level: str
    path: str
    kernels: int
    nbytes: int
    ran: bool


def build_packs(
    named: Sequence[str] = (),
    into: Path | None = None,
    codec: str = "",
    processes: int = 0,
    report: OnStep = lambda _: None,
    first_runs: bool = False,
) -> list[BuiltPack]:
    """Build packs (files of compiled kernels) for the named levels of CPU instructions.

    Parameters
    ----------
    named : levels of `LEVELS`; () takes this processor's best level
    into : folder; by default the package's own
    codec : codec whose samples alone are compiled; "" compiles all samples and first runs
    processes : number of concurrent processes; 0 is one per core
    report : called with the name of each finished step
    first_runs : compile only the kernels in the recorded lists of first runs, without running
        anything

    Raises
    ------
    BadParams : a level or codec does not exist, or Numba's compilation settings are set
    JobFailed : a run fails
    """
    _check_environment()
    able = levels.host_levels()
    if not able:
        raise BadParams("this processor has the features of no level: no pack can be built here")
    wanted = [levels.level_named(name) for name in named] or [able[0]]
    with tempfile.TemporaryDirectory() as name:
        work = _PackWork(Path(name), codec, processes or os.cpu_count() or 1, report)
        if first_runs:
            for level in wanted:
                work.compile_lists(level)
        else:
            work.run_or_compile(wanted, able)
        return [work.packed(level, into or pack_files.package_folder()) for level in wanted]


def warm_workers(
    codec: str = "",
    processes: int = 0,
    report: OnStep = lambda _: None,
    first_runs: bool = False,
) -> None:
    """Compile the kernels that no pack has into the user's cache; arguments as in `build_packs`."""
    with tempfile.TemporaryDirectory() as name:
        setting, count = KernelSetting(Path(name), {}), processes or os.cpu_count() or 1
        tasks = in_parts(setting, count, LISTED) if first_runs else tasks_of(setting, codec)
        run_all(tasks, report, count)


def in_parts(
    setting: KernelSetting, processes: int, code: str, *words: str
) -> dict[str, Callable[[], None]]:
    """Return tasks that together run the code for all kernels, by name of their share.

    Each task passes its number and the number of tasks to the code.

    Parameters
    ----------
    setting : folder and environment of the processes
    processes : number of tasks
    code : Python code to run
    words : arguments of the code before the numbers
    """
    parts = str(processes)
    return {
        f"part {part + 1} of {parts}": partial(setting.run, code, *words, str(part), parts)
        for part in range(processes)
    }


def _check_environment() -> None:
    for name in FOREIGN:
        if name in os.environ:
            raise BadParams(f"{name} is set: packs are for levels of instructions, unset it")


@dataclass(frozen=True)
class _PackWork:
    folder: Path
    codec: str
    processes: int
    report: OnStep

    def run(self, level: levels.Level) -> None:
        """Compile kernels by running first runs and samples twice for a level.

        The second run loads kernels that were parts of others before.
        """
        for _ in range(2):
            tasks = tasks_of(self._setting(level), self.codec)
            run_all(tasks, lambda name: self.report(f"{level.name}: {name}"), self.processes)

    def run_or_compile(self, wanted: Sequence[levels.Level], able: Sequence[levels.Level]) -> None:
        """Run kernels for the levels that this processor supports; compile them for the others.

        Parameters
        ----------
        wanted : levels to build
        able : levels that this processor supports
        """
        runs = [level for level in wanted if level in able] or [able[0]]
        for level in runs:
            self.run(level)
        for level in wanted:
            if level not in able:
                self.compile(level, runs[0])

    def compile_lists(self, level: levels.Level) -> None:
        """Compile the kernels in the recorded lists of first runs for a level."""
        self._in_parts(self._setting(level, {levels.UNRUN: "1"}), level, LISTED)

    def compile(self, level: levels.Level, listed: levels.Level) -> None:
        """Compile for one level the kernels that runs for another level have called."""
        setting = self._setting(level, {levels.UNRUN: "1"})
        self._in_parts(setting, level, COMPILE, str(self._gathered(listed)))

    def _in_parts(
        self, setting: KernelSetting, level: levels.Level, code: str, *words: str
    ) -> None:
        tasks = in_parts(setting, self.processes, code, *words)
        run_all(tasks, lambda name: self.report(f"{level.name}: {name}"), self.processes)

    def packed(self, level: levels.Level, into: Path) -> BuiltPack:
        """Write the compiled kernels of a level to a pack file in the folder `into`."""
        kernels = list(gathering.gathered(self._gathered(level)))
        path = into / pack_files.file_name(level.name)
        size = packs.write(path, level, kernels)
        return BuiltPack(level.name, str(path), len(kernels), size, level in levels.host_levels())

    def _setting(self, level: levels.Level, more: dict[str, str] | None = None) -> KernelSetting:
        folder = self.folder / level.name
        gathered = self._gathered(level)
        gathered.mkdir(parents=True, exist_ok=True)
        variables = {
            levels.LEVEL: level.name,
            pack_files.FOLDERS: pack_files.OFF,
            gathering.FOLDER: str(gathered),
            "NUMBA_CACHE_DIR": _cache(folder),
            **(more or {}),
        }
        return KernelSetting(folder, variables)

    def _gathered(self, level: levels.Level) -> Path:
        return self.folder / level.name / "gathered"


def _cache(folder: Path) -> str:
    """Return the folder of the user's cache, which a failed build continues, or one in `folder`."""
    base = cache_base()
    with suppress(OSError):
        base.mkdir(parents=True, exist_ok=True)
    return str(base if os.access(base, os.W_OK) else folder / "cache")
