"""Few know a library, tables find the rest, and what an import may cost. Floors: test_floors.py."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from helpers.imports import names, package

DOMAINS = (
    *("tasks.genomics.align", "tasks.append", "tasks.genomics.genomes", "tasks.hyperspectral"),
    "tasks.search",
    *("tasks.radio", "tasks.genomics.reads", "tasks.tcr", "tasks.text"),
)
# the codecs that a domain may know by name: it was made for them
CODECS_OF = {"tasks.hyperspectral": {"ccsds123"}, "tasks.radio": {"visibility"}}
CODECS_OF |= {
    "tasks.genomics.reads": {"reads"},
    "tasks.genomics.genomes": {"dna", "integers"},
    "tasks.search": {"bwt"},
}
# what others may know of tasks/formats: no kind of file
SHARED_BY_FORMATS = [f"gangsaw.tasks.formats.{name}" for name in ("contract", "exporting", "flat")]
NO_FILES = "gangsaw.tasks.formats.python_objects"
KNOW_NO_FORMAT = {"tasks.jobs", "tasks.store", "tasks.engine"}
KNOW_NO_FORMAT |= {"gangsaw", "tasks.console", "tasks.api", "tasks.bench"}

KERNEL_WORLD = {"numpy", "numba", "llvmlite", "google_crc32c"}
# the modules that alone know a library, as far as codecs go: of Zarr the bases of both kinds
BASES = {f"gangsaw.codecs.core.zarr.{name}" for name in ("block_codec", "bytes_codec", "named")}
ONLY_IN = {
    "zarr": BASES,
    "numcodecs": {"gangsaw.codecs.core.zarr.v2"},
    "cuda": {"gangsaw.codecs.core.cuda.compiling"},
}
DASK = {"dask", "distributed"}
KNOW_DASK = {
    f"gangsaw.tasks.engine.{name}"
    for name in (
        *("distributed.task_window", "distributed.calls", "scheduling.batches"),
        *("run.run", "run.bags", "run.graph", "run.mapped"),
    )
}
# what the engine knows: how interrupts wait, what a scheduler says of itself and hears of jobs
OF_ENGINE = {f"gangsaw.cluster.{name}" for name in ("identity", "interrupts", "dashboard.install")}
OF_CLUSTER = {"gangsaw.codecs.core.memory.limits"}  # what clusters know: this machine's limits
KNOW_CLUSTERS = {"gangsaw", "tasks.api", "tasks.console"}
# modules of public names, and the domain of each
PUBLIC = {
    "gangsaw.genomes": "tasks.genomics.genomes",
    "gangsaw.reads": "tasks.genomics.reads",
}
PUBLIC |= {
    "gangsaw.search": "tasks.search",
    "gangsaw.tcr": "tasks.tcr",
    "gangsaw.align": "tasks.genomics.align",
}


def dotted(path: str) -> str:
    """The name of a module by its path in the package."""
    parts = ["gangsaw", *path.removesuffix(".py").split("/")]
    return ".".join(part for part in parts if part != "__init__")


MODULES = {dotted(path): path for path in package() if path.endswith(".py")}


def imported(module: str) -> set[str]:
    """Names of the modules that a module imports, anywhere in it but for type checkers alone."""
    path = MODULES[module]
    found = names(path, package()[path], types=False)
    wholes = {one: f"{one.module}.{one.name}" for one in found}
    return {whole if whole in MODULES else one.module for one, whole in wholes.items()}


def within(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def room(module: str) -> str:
    """The folder of a module of ours, such as "tasks.jobs"; the package itself is "gangsaw"."""
    parts = module.split(".")[1:]
    if parts[:1] not in (["codecs"], ["tasks"]):
        return "gangsaw"
    return ".".join(parts[: 3 if parts[:2] == ["tasks", "genomics"] else 2])


def is_codec(name: str) -> bool:
    """Whether a room is a codec's."""
    return within(name, "codecs") and name not in ("codecs", "codecs.core")


def wrong(module: str, target: str) -> str:
    """Why `module` may not import `target`, or ""."""
    top = target.partition(".")[0]
    if top in sys.stdlib_module_names:
        return ""
    if within(module, "gangsaw.cluster"):
        return _wrong_in_cluster(module, target)
    if top != "gangsaw":
        return _wrong_library(module, top)
    if within(target, "gangsaw.cluster"):
        return _wrong_use_of_cluster(module, target)
    return _wrong_name(module, target) or _wrong_domain(module, target)


def _wrong_in_cluster(module: str, target: str) -> str:
    if module == "gangsaw.cluster.interrupts":
        return "interrupts need Python alone"
    own = target in OF_CLUSTER or within(target, "gangsaw.cluster")
    is_ours = within(target, "gangsaw") and not own
    return "cluster knows Dask only" if is_ours else ""


def _wrong_use_of_cluster(module: str, target: str) -> str:
    is_engine = target in OF_ENGINE and room(module) == "tasks.engine"
    return "" if is_engine or room(module) in KNOW_CLUSTERS else "a job is given its client"


def _wrong_library(module: str, top: str) -> str:
    if top == "cupy":
        is_gpu = module.rpartition(".")[2].startswith("gpu")
        knows = is_gpu and (within(module, "gangsaw.codecs") or within(module, "gangsaw.tasks.tcr"))
        return "" if knows or module == "gangsaw.codecs.core.cuda.device" else "no gpu file"
    if within(module, "gangsaw.codecs"):
        if top in ONLY_IN:
            known = ", ".join(sorted(ONLY_IN[top]))
            return "" if module in ONLY_IN[top] else f"{known} alone know {top}"
        return "" if top in KERNEL_WORLD else "codecs need NumPy and Numba alone"
    return f"{top} is the engine's" if top in DASK and module not in KNOW_DASK else ""


def _wrong_name(module: str, target: str) -> str:
    here, there = room(module), room(target)
    if is_codec(there) and here != there:
        codec = there.partition(".")[2]
        return "" if codec in CODECS_OF.get(here, ()) else "codecs are found through the table"
    if here in KNOW_NO_FORMAT or _is_shared_by_formats(module):
        is_one = target.startswith("gangsaw.tasks.formats.") and not (
            _is_shared_by_formats(target) or within(target, NO_FILES)
        )
        return "formats are found through the table" if is_one else ""
    return ""


def _is_shared_by_formats(module: str) -> bool:
    return any(within(module, shared) for shared in SHARED_BY_FORMATS)


def _wrong_domain(module: str, target: str) -> str:
    here, there = room(module), room(target)
    is_named = here == "gangsaw" and there in DOMAINS and PUBLIC.get(module) != there
    return "domains are found through the table" if is_named else ""


def violations() -> Iterator[tuple[str, str, str]]:
    for module in MODULES:
        for target in sorted(imported(module)):
            if why := wrong(module, target):
                yield module, target, why


def test_libraries_and_tables_are_known_to_few() -> None:
    found = [f"{a} imports {b}: {why}" for a, b, why in violations()]
    assert not found, "\n".join(found)


FORBIDDEN = [
    ("codecs.ccsds123.cpu", "gangsaw.codecs.visibility.params"),
    ("codecs.ccsds123.codec", "zarr.abc.codec"),
    ("codecs.core.zarr.other", "zarr.abc.codec"),
    ("codecs.core.zarr.block_codec", "numcodecs"),
    ("codecs.core.container.frame", "gangsaw.codecs.ccsds123.params"),
    ("codecs.core.memory.threads", "distributed"),
    ("codecs.text.codec", "gangsaw.codecs.bwt.cpu"),
    ("tasks.jobs.compress", "dask.array"),
    ("tasks.jobs.compress", "cupy"),
    ("tasks.jobs.choice.recipe", "gangsaw.codecs.ccsds123"),
    ("tasks.jobs.figures.report", "gangsaw.tasks.formats.hdf5.export"),
    ("tasks.jobs.figures.report", "gangsaw.tasks.formats.envi.format"),
    ("tasks.formats.contract.opening", "gangsaw.tasks.formats.envi.format"),
    ("tasks.engine.run.run", "gangsaw.cluster.launchers.local"),
    ("tasks.engine.run.run", "gangsaw.cluster.dashboard.page"),
    ("tasks.hyperspectral.plots", "gangsaw.codecs.visibility.axes"),
    ("tasks.tcr.count", "cupy"),
    ("tasks.gpu", "cupy"),
    ("codecs.ccsds123.cpu", "cupy"),
    ("codecs.core.container.chunk", "cupy"),
    ("cli.info", "gangsaw.codecs.ccsds123"),
    ("cli.demo", "gangsaw.tasks.hyperspectral.synthetic"),
    ("cli.compress", "gangsaw.tasks.formats.raw.source"),
    ("cli.compress", "distributed"),
    ("cli.info", "gangsaw.tasks.append"),
    *[
        (f"tasks.formats.contract.{shared}", f"gangsaw.tasks.formats.{one}")
        for shared in ("opening", "table", "format")
        for one in ("raw.source", "hdf5.source", "hdf5.export")
    ],
    ("tasks.bench.data", "gangsaw.tasks.formats.envi.source"),
    ("cluster.interrupts", "distributed"),
    ("cluster.local", "gangsaw.codecs.core.errors"),
]
ALLOWED = [
    ("cli.info", "gangsaw.tasks.jobs.figures.report"),
    ("tasks.tcr.counting.kernels.gpu", "cupy"),
    ("tasks.radio.append.steps", "gangsaw.codecs.visibility"),
    ("tasks.jobs.compress", "gangsaw.tasks.formats.contract.axes"),
    ("tasks.formats.contract.opening", "gangsaw.tasks.formats.contract.table"),
    ("tasks.formats.raw.format", "gangsaw.tasks.formats.envi.source"),
    ("tasks.hyperspectral.commands.demo", "gangsaw.tasks.formats.envi.export"),
    ("codecs.text.cpu", "gangsaw.codecs.core.numba.bits"),
    ("codecs.visibility.dense.block", "gangsaw.codecs.visibility.words.raw"),
]


def test_the_rules_forbid_something() -> None:
    assert not [pair for pair in FORBIDDEN if not wrong(f"gangsaw.{pair[0]}", pair[1])]


def test_the_rules_allow_something() -> None:
    found = [(pair, wrong(f"gangsaw.{pair[0]}", pair[1])) for pair in ALLOWED]
    assert not [(pair, why) for pair, why in found if why]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_is_quick() -> None:
    code = (
        "import time; start = time.process_time(); import gangsaw; "
        "print(time.process_time() - start)"
    )
    assert min(float(run(code)) for _ in range(3)) < 0.5


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, gangsaw; print(*{'zarr', 'numba', 'dask', 'numpy'} & set(sys.modules))"
    assert run(code).split() == []


@pytest.mark.full
def test_importing_all_modules_compiles_nothing() -> None:
    folders = ("gangsaw.codecs", "gangsaw.tasks.genomics.align", "gangsaw.tasks.tcr")
    names = [name for name in MODULES if any(within(name, folder) for folder in folders)]
    code = f"""if 1:
        import importlib, sys
        for name in {names!r}:
            importlib.import_module(name)
        from numba.core.dispatcher import Dispatcher
        from gangsaw.codecs.core.numba.jit import jit
        kernels = {{
            value.__qualname__: value
            for name, module in list(sys.modules.items()) if name.startswith("gangsaw.")
            for value in vars(module).values() if isinstance(value, Dispatcher)
        }}
        assert len(kernels) > 5, kernels
        print(*(name for name, kernel in kernels.items() if kernel.signatures))
    """
    assert run(code).split() == []
