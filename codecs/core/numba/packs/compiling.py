"""Compilation of Gangsaw's kernels for the chosen level, one outermost kernel at a time.

Numba has one target, this processor, for all functions of a process. With a level, a code generator
of that level compiles Gangsaw's kernels; the user's own functions keep Numba's. Numba's compiler
lock protects the exchange, so no other thread uses the wrong generator.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial

from numba.core import entrypoints
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from gangsaw.codecs.core.numba.packs import compile_counts
from gangsaw.codecs.core.numba.packs.levels import level_choice
from gangsaw.codecs.core.numba.private import ChosenCodegen, exchanged_codegen, set_load_hook


@dataclass
class Nesting:
    """State of the nested compilations in this process; read and changed under Numba's lock.

    Attributes
    ----------
    depth : number of nested kernels in compilation; the outermost is the one that Python called
    began : time.perf_counter() at the start of the outermost kernel
    collects : True if garbage collection was enabled before the outermost kernel
    release : functions to call when the outermost kernel is done
    """

    depth: int = 0
    began: float = 0.0
    collects: bool = False
    release: list[Callable[[], None]] = field(default_factory=list)


_now = Nesting()


class LevelCodegen(ChosenCodegen):
    """Code generator of Numba for the chosen instruction set instead of this processor's."""

    def chosen(self) -> tuple[str, str] | None:
        """Return LLVM's names of the processor and the features of the level, if one is chosen."""
        level = level_choice().level
        return (level.cpu, level.llvm) if level else None


def compile_for_level(compiled: Dispatcher) -> None:
    """Make a Numba dispatcher compile for the chosen instruction set (`Level`)."""
    compiled.compile = partial(_compile, compiled.compile)
    set_load_hook(compiled, _load_extensions)


def is_outermost() -> bool:
    """Return True if Python called the kernel that is being compiled, False if a kernel did."""
    return _now.depth == 1


def at_end(release: Callable[[], None]) -> None:
    """Register `release`, called when the outermost kernel is compiled or failed to compile."""
    _now.release.append(release)


def finished(kernel: str) -> None:
    """Count and report a compiled kernel."""
    compile_counts.compiled(kernel, time.perf_counter() - _now.began)


def _load_extensions() -> None:
    """Load the Numba extensions of other packages, once, under Numba's lock.

    Numba does so without its lock: what one thread loads changes the tables that another one
    compiles with (the result: a KeyError or RuntimeError in a process's first kernels).
    """
    with global_compiler_lock:
        entrypoints.init_all()


def _compile(compile_it: Callable[[object], object], signature: object) -> object:
    with global_compiler_lock, _counted(), level_codegen():
        return compile_it(signature)


@contextmanager
def _counted() -> Iterator[None]:
    if not _now.depth:
        _now.began, _now.collects = time.perf_counter(), gc.isenabled()
        gc.disable()  # Numba's objects stay alive: garbage collection took 5 % of the time
    _now.depth += 1
    try:
        yield
    finally:
        _now.depth -= 1
        if not _now.depth:
            if _now.collects:
                gc.enable()
            compile_counts.done(time.perf_counter() - _now.began)
            while _now.release:
                _now.release.pop()()


@contextmanager
def level_codegen() -> Iterator[None]:
    """Make Numba generate code for the chosen instruction set, if any, in the body.

    The caller has Numba's lock.
    """
    if level_choice().level is None:
        yield
        return
    context = cpu_target.target_context
    context.refresh()  # Numba's own runtime is compiled for this processor
    with exchanged_codegen(context, _level_codegen()):
        yield


@lru_cache
def _level_codegen() -> LevelCodegen:
    return LevelCodegen("gangsaw.exec")
