"""Which CUDA functions carry the name of a stage of the CPU; read from the sources as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
BOUNDS = re.compile(r"__launch_bounds__\s*\([^)]*\)")
FUNCTION = re.compile(r"\b__(global|device)__\b[^(;{]*?(operator\s*[^\s\w]+|\w+)\s*\(")


class CudaFunction(NamedTuple):
    """A function that runs on the device."""

    name: str
    is_kernel: bool


def cuda_functions(folder: Path) -> set[CudaFunction]:
    """All that the CUDA sources below a folder define."""
    sources = [path.read_text() for end in ("cu", "cuh") for path in folder.rglob(f"*.{end}")]
    return {one for source in sources for one in functions_in(source)}


def functions_in(source: str) -> Iterator[CudaFunction]:
    """Functions of one source, those of a class among them."""
    for found in FUNCTION.finditer(BOUNDS.sub("", COMMENT.sub("", source))):
        yield CudaFunction(found[2], found[1] == "global")


def _is_compiled(function: ast.FunctionDef) -> bool:
    return any(re.search("jit|intrinsic|overload", ast.unparse(d)) for d in function.decorator_list)


def cpu_functions(folders: Iterable[Path], *, compiled: bool) -> set[str]:
    """Names without their leading underscores: of compiled functions, or of all in a module.

    Files that begin with gpu launch kernels: they hold no stage of the CPU.
    """
    return {name for file in _stage_files(folders) for name in _functions_of(file, compiled)}


def _stage_files(folders: Iterable[Path]) -> set[Path]:
    return {f for folder in folders for f in folder.rglob("*.py") if not f.name.startswith("gpu")}


def _functions_of(file: Path, compiled: bool) -> Iterator[str]:
    """Yield names of functions, and those that one of several functions gets by the processor."""
    body = ast.parse(file.read_text()).body
    functions = (node for node in body if isinstance(node, ast.FunctionDef))
    names = {f.name for f in functions if _is_compiled(f) or not compiled}
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp):
            choices = {ast.unparse(choice) for choice in (node.value.body, node.value.orelse)}
            names |= {ast.unparse(target) for target in node.targets if choices <= names}
    yield from (name.lstrip("_") for name in names)


def without_twin(cuda: Iterable[CudaFunction], folders: Iterable[Path]) -> set[str]:
    """Names of CUDA functions that no stage of the CPU in these folders has.

    The twin of a kernel is any function of a module, that of another function a compiled one.
    """
    folders = list(folders)
    stages = cpu_functions(folders, compiled=False)
    parts = cpu_functions(folders, compiled=True)
    return {one.name for one in cuda if one.name not in (stages if one.is_kernel else parts)}
