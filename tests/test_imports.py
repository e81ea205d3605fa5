"""What may import what: floors, no circle, few that know a library; and what an import may cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
FOLDERS = {
    "codecs": "gangsaw.codecs",
    "tasks": "gangsaw.tasks",
    "cluster": "gangsaw.cluster",
    "src/gangsaw": "gangsaw",
}
DOMAINS = (
    *("tasks.align", "tasks.genomes", "tasks.hyperspectral"),
    *("tasks.radio", "tasks.reads", "tasks.tcr"),
)
# From the top: a room imports rooms of lower floors, and nothing of its own floor but
# itself. CONTRIBUTING.md draws it. Every folder of codecs/<name> is a room on the floor "codecs.*".
FLOORS = (
    ("gangsaw",),
    ("tasks.append",),
    ("tasks.align",),  # its queries are reads, and its target is a genome
    tuple(name for name in DOMAINS if name != "tasks.align"),
    ("tasks.formats.known",),
    ("tasks.bench",),
    ("tasks.console",),
    ("tasks.api",),
    ("tasks.jobs",),
    ("tasks.sequences",),
    ("tasks.formats",),
    ("tasks.store",),
    ("tasks.engine",),
    ("tasks.source",),
    ("tasks.reading", "tasks.open_files"),
    ("codecs.*",),
    ("codecs.core.zarr",),
    ("codecs.core.container",),
    ("codecs.core.numba", "codecs.core.cuda"),
    ("codecs.core.memory",),
    ("codecs.core",),
)
# folders inside a room that have their own order, from the top; files next to them are free
INNER = {
    "codecs.ccsds123": (("device",), ("sample", "block"), ("wave",), ("predict",), ("header",)),
    "codecs.visibility": (("dense", "fast"), ("words",), ("lanes",)),
    "codecs.visibility.dense": (("choice",), ("coding",), ("model",)),
}
# each of their folders must be listed
PLACED = (
    "codecs/core",
    "codecs/ccsds123",
    "codecs/visibility",
    "codecs/visibility/dense",
    "tasks",
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# the codecs that a domain may know by name: it was made for them
CODECS_OF = {"tasks.hyperspectral": {"ccsds123"}, "tasks.radio": {"visibility"}}
CODECS_OF |= {"tasks.reads": {"reads"}, "tasks.genomes": {"dna"}}
# what others may know of tasks/formats: no format
SHARED_BY_FORMATS = {"atomic", "axes", "flat", "layouts", "memory"}
SHARED_BY_FORMATS |= {"export", "format", "opening", "signatures", "table", "witness"}
KNOW_NO_FORMAT = {"tasks.jobs", "tasks.store", "tasks.engine"}
KNOW_NO_FORMAT |= {"gangsaw", "tasks.console", "tasks.api", "tasks.bench"}

KERNEL_WORLD = {"numpy", "numba", "llvmlite", "google_crc32c"}
# the modules that alone know a library, as far as codecs go
ONLY_IN = {
    "zarr": "gangsaw.codecs.core.zarr.block_codec",
    "numcodecs": "gangsaw.codecs.core.zarr.v2",
}
DASK = {"dask", "distributed"}
KNOW_DASK = {f"gangsaw.tasks.engine.{name}" for name in ("window", "batches", "bags")}
KNOW_CLUSTERS = {"gangsaw", "tasks.api", "tasks.console"}
# modules of public names, and the domain of each
PUBLIC = {"gangsaw.genomes": "tasks.genomes", "gangsaw.reads": "tasks.reads"}


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted name and file of each module of the package."""
    for folder, package in FOLDERS.items():
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            parts = path.relative_to(REPOSITORY / folder).with_suffix("").parts
            yield ".".join([package, *(part for part in parts if part != "__init__")]), path


MODULES = dict(modules())


@cache
def imported(path: Path) -> frozenset[str]:
    """Names of the modules that a file imports, anywhere in it but for type checkers alone."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{name.name}" for name in node.names)
            found.update(name if name in MODULES else node.module for name in names)
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def within(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def room(module: str) -> str:
    """The room of a module of ours, such as "tasks.jobs"; the package itself is "gangsaw"."""
    parts = module.split(".")[1:]
    if not parts or parts[0] not in ("codecs", "tasks"):
        return "gangsaw"
    names = (".".join(parts[:n]) for n in (3, 2))
    return next((name for name in names if name in FLOOR_OF), ".".join(parts[:2]))


def floor(name: str) -> int:
    """Number of a room's floor, 0 at the top."""
    is_codec = within(name, "codecs") and not within(name, "codecs.core")
    return FLOOR_OF["codecs.*" if is_codec else name]


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
    return (
        _wrong_arrow(module, target) or _wrong_name(module, target) or _wrong_domain(module, target)
    )


def _wrong_in_cluster(module: str, target: str) -> str:
    if module == "gangsaw.cluster.interrupts":
        return "interrupts need Python alone"
    is_ours = within(target, "gangsaw") and not within(target, "gangsaw.cluster")
    return "cluster knows Dask only" if is_ours else ""


def _wrong_use_of_cluster(module: str, target: str) -> str:
    is_engine = target == "gangsaw.cluster.interrupts" and room(module) == "tasks.engine"
    return "" if is_engine or room(module) in KNOW_CLUSTERS else "a job is given its client"


def _wrong_library(module: str, top: str) -> str:
    if top == "cupy":
        is_gpu = module.rpartition(".")[2].startswith("gpu")
        knows = is_gpu and (within(module, "gangsaw.codecs") or within(module, "gangsaw.tasks.tcr"))
        return "" if knows or module == "gangsaw.codecs.core.cuda.device" else "no gpu file"
    if within(module, "gangsaw.codecs"):
        if top in ONLY_IN:
            return "" if module == ONLY_IN[top] else f"{ONLY_IN[top]} alone knows {top}"
        return "" if top in KERNEL_WORLD else "codecs need NumPy and Numba alone"
    return f"{top} is the engine's" if top in DASK and module not in KNOW_DASK else ""


def _wrong_arrow(module: str, target: str) -> str:
    here, there = room(module), room(target)
    if here == there:
        return _wrong_inside(module, target)
    if there in ("codecs", "tasks") or here in ("codecs", "tasks"):  # the packages themselves
        return ""
    if floor(there) == floor(here):
        return f"{here} and {there} are on one floor"
    return f"{there} is above {here}" if floor(there) < floor(here) else ""


def _wrong_inside(module: str, target: str) -> str:
    for where, floors in INNER.items():
        if not all(within(name, f"gangsaw.{where}") for name in (module, target)):
            continue
        depth = len(where.split(".")) + 1
        here, there = (f"{name}...".split(".")[depth] for name in (module, target))
        order = {name: i for i, names in enumerate(floors) for name in names}
        if here != there and {here, there} <= set(order) and order[here] >= order[there]:
            return f"{there} does not lie below {here}"
    return ""


def _wrong_name(module: str, target: str) -> str:
    here, there = room(module), room(target)
    if floor(there) == FLOOR_OF["codecs.*"] and here != there:
        codec = there.partition(".")[2]
        return "" if codec in CODECS_OF.get(here, ()) else "codecs are found through the table"
    if here in KNOW_NO_FORMAT or _is_shared_by_formats(module):
        is_one = target.startswith("gangsaw.tasks.formats.") and not _is_shared_by_formats(target)
        return "formats are found through the table" if is_one else ""
    return ""


def _is_shared_by_formats(module: str) -> bool:
    parts = module.split(".")
    return parts[:3] == ["gangsaw", "tasks", "formats"] and not SHARED_BY_FORMATS.isdisjoint(
        parts[3:4]
    )


def _wrong_domain(module: str, target: str) -> str:
    here, there = room(module), room(target)
    is_domain = there in (*DOMAINS, "tasks.append")  # which radio makes public
    is_named = here == "gangsaw" and is_domain and PUBLIC.get(module) != there
    return "domains are found through the table" if is_named else ""


def violations() -> Iterator[tuple[str, str, str]]:
    for module, path in MODULES.items():
        for target in sorted(imported(path)):
            if why := wrong(module, target):
                yield module, target, why


def test_every_folder_has_its_floor() -> None:
    """Whoever adds a folder says where it stands: in FLOORS, or in INNER."""
    inner = {f"{where}.{name}" for where, rows in INNER.items() for row in rows for name in row}
    listed = {*FLOOR_OF, *inner}
    folders = (path for name in PLACED for path in (REPOSITORY / name).iterdir() if path.is_dir())
    names = {path.relative_to(REPOSITORY).as_posix() for path in folders if any(path.glob("*.py"))}
    assert not {name for name in names if name.replace("/", ".") not in listed}


def test_imports_go_one_way() -> None:
    found = [f"{a} imports {b}: {why}" for a, b, why in violations()]
    assert not found, "\n".join(found)


def circle(graph: dict[str, set[str]]) -> str:
    """One of the circles in words, or ""."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return ""


def test_no_imports_go_in_a_circle() -> None:
    """Those inside functions count as well."""
    graph = {
        name: {target for target in imported(path) if target in MODULES and target != name}
        for name, path in MODULES.items()
    }
    assert not circle(graph)


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})
    assert not circle({"a": {"b", "c"}, "b": {"c"}})


FORBIDDEN = [
    ("codecs.ccsds123.cpu", "gangsaw.codecs.visibility.params"),
    ("codecs.ccsds123.codec", "zarr.abc.codec"),
    ("codecs.core.zarr.other", "zarr.abc.codec"),
    ("codecs.core.zarr.block_codec", "numcodecs"),
    ("codecs.core.container.frame", "gangsaw.codecs.ccsds123.params"),
    ("codecs.core.container.frame", "gangsaw.codecs.core.zarr.block_codec"),
    ("codecs.core.numba.bits", "gangsaw.codecs.core.cuda.launch"),
    ("codecs.core.errors", "gangsaw.codecs.core.memory.threads"),
    ("codecs.core.memory.threads", "distributed"),
    ("codecs.visibility.words.raw", "gangsaw.codecs.visibility.dense.coding.block"),
    ("codecs.visibility.dense.coding.block", "gangsaw.codecs.visibility.fast.tiles"),
    ("codecs.visibility.dense.coding.block", "gangsaw.codecs.visibility.dense.choice.means"),
    ("codecs.visibility.dense.model.head", "gangsaw.codecs.visibility.dense.coding.block"),
    ("codecs.text.codec", "gangsaw.codecs.bwt.cpu"),
    ("tasks.jobs.compress", "dask.array"),
    ("tasks.jobs.compress", "gangsaw.cli"),
    ("tasks.jobs.compress", "cupy"),
    ("tasks.jobs.verify", "gangsaw.tasks.radio.radio"),
    ("tasks.jobs.recipe", "gangsaw.codecs.ccsds123"),
    ("tasks.jobs.report", "gangsaw.tasks.formats.flat_export"),
    ("tasks.jobs.report", "gangsaw.tasks.formats.known.envi"),
    ("tasks.formats.export", "gangsaw.tasks.jobs.compress"),
    ("tasks.formats.opening", "gangsaw.tasks.formats.known.envi"),
    ("tasks.formats.opening", "gangsaw.tasks.radio.uvdata"),
    ("tasks.store.source", "gangsaw.tasks.formats.flat"),
    ("tasks.engine.window", "gangsaw.cluster.local"),
    ("tasks.engine.memory", "gangsaw.tasks.store.place"),
    ("tasks.hyperspectral.plots", "gangsaw.codecs.visibility.axes"),
    ("tasks.tcr.plots", "gangsaw.tasks.hyperspectral.plots"),
    ("tasks.tcr.count", "cupy"),
    ("tasks.gpu", "cupy"),
    ("codecs.ccsds123.cpu", "cupy"),
    ("codecs.core.container.chunk", "cupy"),
    ("cli.info", "gangsaw.codecs.ccsds123"),
    ("cli.demo", "gangsaw.tasks.hyperspectral.synthetic"),
    ("cli.compress", "gangsaw.tasks.formats.raw"),
    ("cli.compress", "distributed"),
    ("cli.info", "gangsaw.tasks.append"),
    *[
        (f"tasks.formats.{shared}", f"gangsaw.tasks.formats.{one}")
        for shared in ("opening", "table", "format")
        for one in ("raw", "xarrays", "netcdf_export")
    ],
    ("tasks.bench.data", "gangsaw.tasks.formats.known.envi.source"),
    ("tasks.formats.known.envi.source", "gangsaw.tasks.hyperspectral.plots"),
    ("cluster.interrupts", "distributed"),
    ("cluster.local", "gangsaw.codecs.core.errors"),
]
ALLOWED = [
    ("cli.info", "gangsaw.tasks.jobs.report"),
    ("tasks.tcr.gpu", "cupy"),
    ("tasks.radio.append.steps", "gangsaw.codecs.visibility"),
    ("tasks.jobs.compress", "gangsaw.tasks.formats.axes"),
    ("tasks.formats.opening", "gangsaw.tasks.formats.table"),
    ("tasks.formats.known.raw", "gangsaw.tasks.formats.known.envi.source"),
    ("tasks.hyperspectral.commands.demo", "gangsaw.tasks.formats.known.envi.export"),
    ("codecs.text.cpu", "gangsaw.codecs.core.numba.bits"),
    ("codecs.visibility.dense.coding.block", "gangsaw.codecs.visibility.words.raw"),
]


def test_the_arrows_forbid_something() -> None:
    assert not [pair for pair in FORBIDDEN if not wrong(f"gangsaw.{pair[0]}", pair[1])]


def test_the_arrows_allow_something() -> None:
    found = [(pair, wrong(f"gangsaw.{pair[0]}", pair[1])) for pair in ALLOWED]
    assert not [(pair, why) for pair, why in found if why]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_is_quick() -> None:
    code = (
        "import time; start = time.perf_counter(); import gangsaw; "
        "print(time.perf_counter() - start)"
    )
    assert min(float(run(code)) for _ in range(3)) < 0.5


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, gangsaw; print(*{'zarr', 'numba', 'dask', 'numpy'} & set(sys.modules))"
    assert run(code).split() == []


def test_importing_all_modules_compiles_nothing() -> None:
    folders = ("gangsaw.codecs", "gangsaw.tasks.align", "gangsaw.tasks.tcr")
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
