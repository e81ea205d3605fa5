"""Builds packs: what first runs compile for a level goes into one file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba.cache import cache_base
from gangsaw.codecs.core.numba.kept import gathering, levels, packs, places
from gangsaw.tasks.kernels.running import COMPILE, KernelSetting, Told, run_all, tasks_of

# Numba's settings would change what is compiled; a pack must hold what anybody may run
FOREIGN = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_ENABLE_AVX")


@dataclass(frozen=True)
class BuiltPack:
    """A pack that was built.

    Attributes
    ----------
    level : of instructions
    path : of the file
    kernels : in it
    nbytes : of it
    ran : False: compiled only, since this processor has not all features
    """

    level: str
    path: str
    kernels: int
    nbytes: int
    ran: bool


def build(
    named: Sequence[str] = (),
    into: Path | None = None,
    codec: str = "",
    processes: int = 0,
    told: Told = lambda _: None,
) -> list[BuiltPack]:
    """Build packs of the levels named; by default the best that this processor has.

    Parameters
    ----------
    named : levels of `LEVELS`
    into : folder; by default the package's own
    codec : of its samples alone
    processes : at a time; 0 is one per core
    told : called with each step that is done

    Raises
    ------
    BadParams : there is no such level or codec, or Numba is told what to compile for
    JobFailed : a run fails
    """
    _check_environment()
    able = levels.host_levels()
    if not able:
        raise BadParams("this processor has the features of no level: no pack can be built here")
    wanted = [levels.level_named(name) for name in named] or [able[0]]
    # What only is compiled takes its list from what runs.
    runs = [level for level in wanted if level in able] or [able[0]]
    with tempfile.TemporaryDirectory() as name:
        work = _PackWork(Path(name), codec, processes or os.cpu_count() or 1, told)
        for level in runs:
            work.run(level)
        for level in wanted:
            if level not in able:
                work.compile(level, runs[0])
        return [work.packed(level, into or places.package_folder()) for level in wanted]


def warm(codec: str = "", processes: int = 0, told: Told = lambda _: None) -> None:
    """Compile into this user's cache what no pack holds; raises as `build` does."""
    with tempfile.TemporaryDirectory() as name:
        tasks = tasks_of(KernelSetting(Path(name), {}), codec)
        run_all(tasks, told, processes or os.cpu_count() or 1)


def _check_environment() -> None:
    for name in FOREIGN:
        if name in os.environ:
            raise BadParams(f"{name} is set: packs are for levels of instructions, unset it")


@dataclass(frozen=True)
class _PackWork:
    folder: Path
    codec: str
    processes: int
    told: Told

    def run(self, level: levels.Level) -> None:
        """Run everything twice: by then kernels are loaded that were parts of others."""
        for _ in range(2):
            tasks = tasks_of(self._setting(level), self.codec)
            run_all(tasks, lambda name: self.told(f"{level.name}: {name}"), self.processes)

    def compile(self, level: levels.Level, listed: levels.Level) -> None:
        """Compile for one level what was gathered of another."""
        setting = self._setting(level, {levels.UNRUN: "1"})
        parts, source = str(self.processes), str(self._gathered(listed))
        tasks = {
            f"part {part + 1} of {parts}": partial(setting.run, COMPILE, source, str(part), parts)
            for part in range(self.processes)
        }
        run_all(tasks, lambda name: self.told(f"{level.name}: {name}"), self.processes)

    def packed(self, level: levels.Level, into: Path) -> BuiltPack:
        """Write what was gathered of a level."""
        kernels = list(gathering.gathered(self._gathered(level)))
        path = into / places.file_name(level.name)
        size = packs.write(path, level, kernels)
        return BuiltPack(level.name, str(path), len(kernels), size, level in levels.host_levels())

    def _setting(self, level: levels.Level, more: dict[str, str] | None = None) -> KernelSetting:
        folder = self.folder / level.name
        gathered = self._gathered(level)
        gathered.mkdir(parents=True, exist_ok=True)
        variables = {
            levels.LEVEL: level.name,
            places.FOLDERS: places.OFF,
            gathering.FOLDER: str(gathered),
            "NUMBA_CACHE_DIR": _cache(folder),
            **(more or {}),
        }
        return KernelSetting(folder, variables)

    def _gathered(self, level: levels.Level) -> Path:
        return self.folder / level.name / "gathered"


def _cache(folder: Path) -> str:
    """Return the user's cache, so that a build that failed goes on; else one in `folder`."""
    base = cache_base()
    with suppress(OSError):
        base.mkdir(parents=True, exist_ok=True)
    return str(base if os.access(base, os.W_OK) else folder / "cache")
