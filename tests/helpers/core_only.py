"""What a process can import where only the core is installed, by a finder that refuses the rest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_REFUSING = """if 1:
    import sys
    REFUSED = frozenset({refused!r})
    class Refusing:
        def __init__(self, finder):
            self.finder = finder
        def __getattr__(self, name):
            return getattr(self.finder, name)
        def find_spec(self, name, path=None, target=None):
            is_there = name.partition(".")[0] not in REFUSED
            return self.finder.find_spec(name, path, target) if is_there else None
    sys.meta_path[:] = map(Refusing, sys.meta_path)
"""


@cache
def closure(name: str, extra: str = "") -> frozenset[str]:
    """The distributions that an installation of one brings, itself included."""
    found: set[tuple[str, frozenset[str]]] = set()
    todo = [(canonicalize_name(name), frozenset({extra}))]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += _asked(*one)
    return frozenset(name for name, _ in found)


def _asked(name: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for line in _lines(name):
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in extras | {""}):
            yield canonicalize_name(need.name), frozenset(need.extras)


@cache
def _lines(name: str) -> tuple[str, ...]:
    try:
        return tuple(requires(name) or ())
    except PackageNotFoundError:  # of another platform, or an extra that is not installed
        return ()


def refused() -> set[str]:
    """Names of installed modules that the core does not bring."""
    core = closure("gangsaw")
    of = packages_distributions()
    kept = {module for module, names in of.items() if core & {canonicalize_name(n) for n in names}}
    return {module for module in of if module not in kept and module.isidentifier()}


def run_core(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that imports what the core brings, and nothing else."""
    whole = f"{_REFUSING.format(refused=sorted(refused()))}\n{code}"
    return subprocess.run(
        [sys.executable, "-c", whole], capture_output=True, text=True, check=False
    )
