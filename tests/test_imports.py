"""What may import what, and what an import may cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
FOLDERS = {
    "codecs": "gangsaw.codecs",
    "tasks": "gangsaw.tasks",
    "cluster": "gangsaw.cluster",
    "src/gangsaw": "gangsaw",
}
KERNEL_WORLD = {"numpy", "numba", "llvmlite", "google_crc32c"}
# the modules that alone know a library, as far as codecs and tasks go
ONLY_IN = {
    "zarr": "gangsaw.codecs.core.zarr.block_codec",
    "numcodecs": "gangsaw.codecs.core.zarr.v2",
}
DASK = {"dask", "distributed"}


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted name and file of each module of the package."""
    for folder, package in FOLDERS.items():
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            parts = path.relative_to(REPOSITORY / folder).with_suffix("").parts
            yield ".".join([package, *(part for part in parts if part != "__init__")]), path


def imported(path: Path) -> set[str]:
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
            found.add(node.module)
        waiting.extend(ast.iter_child_nodes(node))
    return found


MODULES = dict(modules())


def within(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def allowed(module: str, target: str) -> bool:
    """Whether the arrows of CONTRIBUTING.md let `module` import `target`."""
    top = target.partition(".")[0]
    if top in sys.stdlib_module_names:
        return True
    if top == "cupy":
        home, _, name = module.rpartition(".")
        return module == "gangsaw.codecs.core.cuda.device" or (
            name.startswith("gpu")
            and (within(home, "gangsaw.codecs") or within(home, "gangsaw.tasks.tcr"))
        )
    if module == "gangsaw.cluster.interrupts":
        return False
    if within(module, "gangsaw.cluster"):
        return not within(target, "gangsaw") or within(target, "gangsaw.cluster")
    if within(module, "gangsaw.codecs"):
        return _codec_may(module, target, top)
    if within(module, "gangsaw.tasks"):
        if top in DASK:
            return module in {"gangsaw.tasks.engine.window", "gangsaw.tasks.engine.batches"}
        if within(target, "gangsaw.cluster") and module == "gangsaw.tasks.face":
            return True
        lower = ("gangsaw.tasks", "gangsaw.codecs", "gangsaw.cluster.interrupts")
        return top != "gangsaw" or any(within(target, name) for name in lower)
    return True


def _codec_may(module: str, target: str, top: str) -> bool:
    if top in ONLY_IN:
        return module == ONLY_IN[top]
    if top != "gangsaw":
        return top in KERNEL_WORLD
    own = ".".join(module.split(".")[:3])  # gangsaw.codecs.<name>
    return within(target, "gangsaw.codecs.core") or within(target, own)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module: str) -> None:
    wrong = sorted(target for target in imported(MODULES[module]) if not allowed(module, target))
    assert not wrong


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("gangsaw.codecs.ccsds123.cpu", "gangsaw.codecs.visibility.params"),
        ("gangsaw.codecs.ccsds123.codec", "zarr.abc.codec"),
        ("gangsaw.codecs.core.container.frame", "gangsaw.codecs.ccsds123.params"),
        ("gangsaw.codecs.core.memory.threads", "distributed"),
        ("gangsaw.tasks.jobs.compress", "dask.array"),
        ("gangsaw.tasks.jobs.compress", "gangsaw.cli"),
        ("gangsaw.tasks.engine.window", "gangsaw.cluster.local"),
        ("gangsaw.cluster.interrupts", "distributed"),
        ("gangsaw.cluster.local", "gangsaw.codecs.core.errors"),
        ("gangsaw.tasks.jobs.compress", "cupy"),
        ("gangsaw.tasks.gpu", "cupy"),
        ("gangsaw.tasks.tcr.paths.count", "cupy"),
        ("gangsaw.codecs.ccsds123.cpu", "cupy"),
        ("gangsaw.codecs.core.container.chunk", "cupy"),
    ],
)
def test_the_arrows_forbid_something(module: str, target: str) -> None:
    assert not allowed(module, target)


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
    folders = ("gangsaw.codecs", "gangsaw.tasks.tcr")
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
