"""Writer of kernel lists: first runs are recorded, and the kernels they call are compiled again.

Vectors of 64 bytes and narrower ones have different kernels, so a processor with both records both.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba.packs import compile_counts, gathering, levels, pack_files
from gangsaw.codecs.core.numba.packs.ahead.kernel_lists import (
    ALL,
    GROUP,
    NARROW,
    SUFFIX,
    WIDE,
    KernelList,
    ListedKernel,
    write_lists,
)
from gangsaw.codecs.core.numba.packs.ahead.type_text import write_types
from gangsaw.codecs.core.plugins import entry_points
from gangsaw.tasks.precompile.compiling import import_kernel
from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns
from gangsaw.tasks.precompile.running import COMMAND, KernelSetting, OnStep, run_all

MEASURE = (
    "import sys; from gangsaw.tasks.precompile.listing import measure_costs; "
    "measure_costs(*sys.argv[1:])"
)
COSTS = "costs.json"
Costs = Mapping[str, tuple[float, int]]


def write_all(
    domains: Sequence[str] = (), processes: int = 1, report: OnStep = lambda _: None
) -> list[Path]:
    """Record the kernels that first runs call; write the lists of domains and return their files.

    Parameters
    ----------
    domains : names of domains; () for all
    processes : number of concurrent processes
    report : called with the name of each finished domain

    Raises
    ------
    BadParams : this processor lacks one of the vector widths, or there is no such domain
    JobFailed : a run fails
    """
    recorded = recorded_levels()
    if set(recorded) != {WIDE, NARROW}:
        raise BadParams("lists are of vectors of 64 bytes and of 32: this processor has not both")
    found = entry_points.load_table(GROUP, FirstRuns)
    if unknown := set(domains) - set(found):
        raise BadParams(
            f"no first runs are called {', '.join(unknown)}: there are {', '.join(found)}"
        )
    tasks = {name: partial(_write, name, found[name], recorded) for name in domains or found}
    run_all(tasks, report, processes)
    return [list_path(name) for name in tasks]


def recorded_levels() -> dict[str, str]:
    """Return, for each vector width, the instruction level for which kernels are recorded.

    Of each width it is the lowest level: higher ones can compile the same kernels.
    """
    return {WIDE if level.wide else NARROW: level.name for level in levels.host_levels()}


def list_path(domain: str) -> Path:
    """Return the path of a domain's kernel list; the file need not exist."""
    spec = find_spec(entry_points.find_entries(GROUP)[domain][0].module)
    assert spec is not None
    return Path(str(spec.origin)).with_suffix(SUFFIX)


def _write(domain: str, runs: FirstRuns, recorded: Mapping[str, str]) -> None:
    possible = [run for run in runs.runs if run.is_possible]
    if possible != list(runs.runs):
        missing = {name for run in runs.runs for name in run.needs if find_spec(name) is None}
        raise BadParams(f"{domain}: {', '.join(sorted(missing))} must be installed")
    with TemporaryDirectory() as name:
        kinds = {
            kind: record_lists(possible, Recorder(Path(name, kind), level))
            for kind, level in recorded.items()
        }
    write_lists(list_path(domain), merge_costs(both_kinds(kinds[WIDE], kinds[NARROW])))


@dataclass(frozen=True)
class Recorder:
    """Recorder of the kernels that commands call, for one level.

    Attributes
    ----------
    folder : folder for all output
    level : name of the instruction level
    """

    folder: Path
    level: str

    def run(self, run: FirstRun) -> Iterator[tuple[str, Path]]:
        """Run the commands of a first run; yield the first word and the kernels' folder of each."""
        for is_recorded in (False, True):  # the second pass has inner kernels, too
            data = self.folder / f"{run.name} {is_recorded}"
            data.mkdir(parents=True)
            run.make(data)
            for number, arguments in enumerate(run.commands):
                into = data / f"gathered {number}"
                into.mkdir()
                more = {gathering.FOLDER: str(into)} if is_recorded else {}
                self._setting(**more).run(COMMAND, *arguments, where=data)
                if is_recorded:
                    yield arguments[0], into

    def costs(self, gathered: Sequence[Path]) -> Costs:
        """Compile all kernels in a process with an empty cache; return the seconds and counts.

        Parameters
        ----------
        gathered : folders in which runs recorded the kernels
        """
        cache = {"NUMBA_CACHE_DIR": str(self.folder / "cache")}
        self._setting(**cache).run(MEASURE, str(self.folder / COSTS), *map(str, gathered))
        costs: Costs = json.loads((self.folder / COSTS).read_text(encoding="utf-8"))
        return costs

    def _setting(self, **more: str) -> KernelSetting:
        variables = {levels.LEVEL: self.level, pack_files.FOLDERS: pack_files.OFF, **more}
        return KernelSetting(self.folder, variables)


def record_lists(runs: Sequence[FirstRun], recorder: Recorder) -> list[KernelList]:
    """Return the kernel lists of all commands of these first runs."""
    commands = [(run.name, *found) for run in runs for found in recorder.run(run)]
    costs = recorder.costs([folder for _, _, folder in commands])
    return [
        KernelList(word, (name,), tuple(_listed(folder, costs))) for name, word, folder in commands
    ]


def _listed(folder: Path, costs: Costs) -> Iterator[ListedKernel]:
    for module, name, types in gathering.called(folder):
        kernel = ListedKernel(f"{module}:{name}", write_types(types))
        seconds, count = costs[kernel.key]
        yield replace(kernel, seconds=seconds, count=count)


def measure_costs(out: str, *gathered: str) -> None:
    """Compile the kernels recorded in the folders `gathered`; write seconds and counts to `out`."""
    costs: dict[str, tuple[float, int]] = {}
    for folder in map(Path, gathered):
        for module, name, types in gathering.called(folder):
            key = f"{module}:{name} {write_types(types)}"
            kernel = import_kernel(module, name)
            if key not in costs and kernel is not None:
                began, before = time.process_time(), compile_counts.counters.count
                kernel.compile(types)
                costs[key] = time.process_time() - began, compile_counts.counters.count - before
    Path(out).write_text(json.dumps(costs), encoding="utf-8")


def both_kinds(wide: Sequence[KernelList], narrow: Sequence[KernelList]) -> list[KernelList]:
    """Merge the kernel lists of the same commands, recorded with wide and with narrow vectors."""
    found = []
    for one, other in zip(wide, narrow, strict=True):
        ones, others = ({kernel.key for kernel in each.kernels} for each in (one, other))
        kernels = [
            *(replace(k, vectors=ALL if k.key in others else WIDE) for k in one.kernels),
            *(replace(k, vectors=NARROW) for k in other.kernels if k.key not in ones),
        ]
        found.append(replace(one, kernels=tuple(kernels)))
    return found


def merge_costs(lists: Sequence[KernelList]) -> list[KernelList]:
    """Merge kernel lists of one command that have the same kernels; drop empty lists."""
    found: dict[tuple[str, frozenset[str]], KernelList] = {}
    for one in lists:
        same = one.command, frozenset(kernel.key for kernel in one.kernels)
        runs = found[same].runs if same in found else ()
        runs = runs if one.runs[0] in runs else (*runs, *one.runs)
        found[same] = replace(found.get(same, one), runs=runs)
    return [one for one in found.values() if one.kernels]
