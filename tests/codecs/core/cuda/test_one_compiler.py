"""One function compiles kernels: CuPy's compiler flushes denormals to 0, whatever its options."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[4]
PRODUCT = ("codecs", "tasks", "cluster", "src", "notebooks")
# what of CuPy's takes a source, or Python that becomes one
COMPILES = {
    *("RawKernel", "ElementwiseKernel", "ReductionKernel", "rawkernel", "fuse", "jitify"),
    *("compile_with_cache", "_compile_module_with_cache", "_compile_with_cache_cuda"),
    *("compile_using_nvrtc", "compile_using_nvcc", "_NVRTCProgram"),
}
NVRTC = {"createProgram", "compileProgram", "nvrtcCreateProgram", "nvrtcCompileProgram"}
CALLS_NVRTC, LOADS_MODULES = "compiling.py", "launch.py"  # of core: the files that alone may


def names(tree: ast.AST) -> Iterator[str]:
    """Names that a file uses, imports or spells out for getattr or import_module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from node.value.split(".")


def compilers(tree: ast.AST) -> Iterator[str]:
    """Uses of CuPy's module `compiler`, but for catching its error."""
    nodes = [*ast.walk(tree)]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    caught = {id(node.value) for node in attributes if node.attr == "CompileException"}
    for node in attributes:
        if node.attr == "compiler" and id(node) not in caught:
            yield ast.unparse(node)
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and "cupy.cuda.compiler" in ast.unparse(
            node
        ):
            yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and node.module == "cupy.cuda":
            yield from (name.name for name in node.names if name.name == "compiler")


def modules_of_sources(tree: ast.AST) -> Iterator[str]:
    """Makings of modules with anything but a path."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "RawModule":
            given = [keyword.arg for keyword in node.keywords]
            if node.args or given != ["path"]:
                yield ast.unparse(node)


def faults(text: str, file: str = "") -> list[str]:
    """What a file of the product does that none may, or only another.

    file : its name, where it is in core
    """
    tree = ast.parse(text)
    found = {*names(tree)}
    wrong = [*(COMPILES & found), *compilers(tree), *modules_of_sources(tree)]
    wrong += NVRTC & found if file != CALLS_NVRTC else []
    return wrong + (["RawModule"] if "RawModule" in found and file != LOADS_MODULES else [])


@pytest.mark.full
def test_nothing_else_compiles() -> None:
    files = [path for folder in PRODUCT for path in (REPOSITORY / folder).rglob("*.py")]
    in_core = {path: path.name if "core" in path.parts else "" for path in files}
    found = {path: faults(path.read_text(), file) for path, file in in_core.items()}
    assert not {path: wrong for path, wrong in found.items() if wrong}
    users = {
        path for path in files if {"RawModule", *NVRTC} & {*names(ast.parse(path.read_text()))}
    }
    assert {path.name for path in users} == {CALLS_NVRTC, LOADS_MODULES}  # they are seen at all


@pytest.mark.parametrize(
    "text",
    [
        "module = cp.RawModule(code=text)",
        "module = cp.RawModule(path=file, options=options)",
        "module = cp.RawModule(text)",
        "kernel = cp.RawKernel(text, 'scale')",
        "from cupy import ElementwiseKernel as Kernel",
        "kernel = getattr(cp, 'ReductionKernel')(*arguments)",
        "@cp.fuse()\ndef add(x, y): return x + y",
        "@cp.fuse\ndef add(x, y): return x + y",
        "from cupyx import jit\n@jit.rawkernel()\ndef add(x, y): ...",
        "cp.cuda.compiler.compile_with_cache(text)",
        "compile = cp.cuda.compiler.anything",
        "from cupy.cuda import compiler",
        "from cupy.cuda.compiler import anything",
        "import cupy.cuda.compiler as of_cupy",
        "nvrtc.createProgram(text, '', (), ())",
    ],
)
def test_compiling_is_seen(text: str) -> None:
    assert faults(text, LOADS_MODULES)


def test_a_module_of_a_path_is_for_one_file() -> None:
    text = "try:\n    cp.RawModule(path=path)\nexcept cp.cuda.compiler.CompileException: ..."
    assert not faults(text, LOADS_MODULES)
    assert faults(text, "gpu_encode.py")
