"""Writes down what Numba compiles in each process that has this folder on its PYTHONPATH.

One line of JSON per compilation goes to a file of the process's own in the folder COMPILE_LOG. It
waits for Numba to be imported: most processes never do.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

WATCHED = "numba.core.dispatcher"


class Watch:
    """Finds Numba's dispatcher once, and has it watched after it is imported."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return the spec of the dispatcher with a loader that watches it."""
        if name != WATCHED:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (run(module), watch(module))[0]  # type: ignore[method-assign,assign]
        return spec


class Clock:
    """Seconds of this thread's processor, split over nested compilations."""

    def __init__(self) -> None:
        self.inner: list[float] = [0.0]
        self.llvm: list[float] = [0.0]

    @property
    def depth(self) -> int:
        """Compilations that wait for the next one: 0 for what Python calls."""
        return len(self.inner) - 1

    def timed(self, function: Any, *args: Any, **kwargs: Any) -> tuple[Any, float, float, float]:
        """Return what a compilation returns, its seconds, those of its own, and LLVM's of these."""
        self.inner.append(0.0)
        self.llvm.append(0.0)
        start = time.thread_time()
        try:
            result = function(*args, **kwargs)
        finally:
            seconds, inside, llvm = time.thread_time() - start, self.inner.pop(), self.llvm.pop()
            self.inner[-1] += seconds
        return result, seconds, seconds - inside, llvm

    def of_llvm(self, function: Any) -> Any:
        """Return a method whose seconds count as LLVM's."""

        def method(*args: Any, **kwargs: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.llvm[-1] += time.thread_time() - start

        return method


def watch(module: Any) -> None:
    """Write down each compilation of the dispatchers of a module."""
    from numba.core.codegen import CPUCodeLibrary

    clock = Clock()
    for name in ("add_llvm_module", "add_ir_module", "_optimize_final_module"):
        setattr(CPUCodeLibrary, name, clock.of_llvm(getattr(CPUCodeLibrary, name)))
    CPUCodeLibrary._finalize_final_module = clock.of_llvm(CPUCodeLibrary._finalize_final_module)
    compiler = module._FunctionCompiler
    before = compiler.compile

    def compile(self: Any, args: Any, return_type: Any) -> Any:
        result, seconds, own, llvm = clock.timed(before, self, args, return_type)
        written(self, args, clock.depth, seconds, own, llvm)
        return result

    compiler.compile = compile


def written(compiler: Any, args: Any, depth: int, seconds: float, own: float, llvm: float) -> None:
    """Append a compilation to this process's file."""
    function, options = compiler.py_func, compiler.targetoptions
    row = {
        "name": f"{function.__module__}.{function.__qualname__}",
        "types": [str(kind) for kind in args],
        "wrapped": not options.get("no_cpython_wrapper", False),
        "depth": depth,
        "seconds": seconds,
        "own": own,
        "llvm": llvm,
    }
    with (Path(os.environ["COMPILE_LOG"]) / f"{os.getpid()}.jsonl").open("a") as log:
        log.write(json.dumps(row) + "\n")


if "COMPILE_LOG" in os.environ:
    sys.meta_path.insert(0, Watch())  # type: ignore[arg-type]
