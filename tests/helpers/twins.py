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
    files = {f for folder in folders for f in folder.rglob("*.py") if not f.name.startswith("gpu")}
    found = (node for f in files for node in ast.parse(f.read_text()).body)
    functions = (node for node in found if isinstance(node, ast.FunctionDef))
    return {f.name.lstrip("_") for f in functions if _is_compiled(f) or not compiled}


def without_twin(cuda: Iterable[CudaFunction], folders: Iterable[Path]) -> set[str]:
    """Names of CUDA functions that no stage of the CPU in these folders has.

    The twin of a kernel is any function of a module, that of another function a compiled one.
    """
    folders = list(folders)
    stages = cpu_functions(folders, compiled=False)
    parts = cpu_functions(folders, compiled=True)
    return {one.name for one in cuda if one.name not in (stages if one.is_kernel else parts)}
