"""What keeps first runs short: kernels call nothing that compiles for long, and once per kind.

Seconds are in `tests/benchmarks/compiled.py`; a test of them would take minutes.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator

from helpers.imports import package

LONG = {"argsort", "median", "percentile", "searchsorted", "sort", "take", "unique"}
OFTEN = {  # where Numba's is as good as what would stand there instead
    "tasks/align/search/seeds/anchors.py": {"sort_words: sort"},
}
LAYOUT = re.compile(r"readonly |(?<=\dd, )[ACF](?=[),])")
SIGNATURES = """
import gc, json, sys
from itertools import islice
from numba.core.dispatcher import Dispatcher
from gangsaw.tasks.kernels.first_runs import _samples, codecs
import numpy as np
for codec in codecs():
    for codec_type, sample in islice(_samples(codec), 3):
        coder = codec_type(**vars(sample.params)).coder(sample.array.shape, sample.array.dtype)
        coder.decode(coder.encode(sample.array), np.empty_like(sample.array))
found = {}
for kernel in filter(lambda thing: isinstance(thing, Dispatcher), gc.get_objects()):
    function = kernel.py_func
    if function.__module__.startswith("gangsaw"):
        found[f"{function.__module__}.{function.__qualname__}"] = list(map(str, kernel.overloads))
json.dump(found, sys.stdout)
"""


def kernels(code: str) -> Iterator[ast.FunctionDef]:
    """Functions that are compiled."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef):
            if any(ast.unparse(mark).startswith("jit") for mark in node.decorator_list):
                yield node


def long_calls(code: str) -> Iterator[str]:
    """Calls in kernels, and slices that are assigned to slices, that take Numba seconds."""
    for kernel in kernels(code):
        for node in ast.walk(kernel):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in LONG:
                    yield f"{kernel.name}: {node.func.attr}"
            if isinstance(node, ast.Assign) and _is_slice(node.value):
                if any(map(_is_slice, node.targets)):
                    yield f"{kernel.name}: a slice"


def _is_slice(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and any(
        isinstance(part, ast.Slice) for part in ast.walk(node.slice)
    )


def test_kernels_call_nothing_that_compiles_for_long() -> None:
    found = {path: set(long_calls(code)) for path, code in package().items() if path[-3:] == ".py"}
    assert {path: names for path, names in found.items() if names} == OFTEN


def test_the_search_finds_something() -> None:
    code = "@jit_part\ndef f(a, b):\n    a[1:2] = b[3:4]\n    a.sort()\n    b[:] = 0\n"
    assert set(long_calls(code)) == {"f: a slice", "f: sort"}
    assert not set(long_calls(code.replace("@jit_part\n", "")))


def test_kernels_are_compiled_once_per_kind() -> None:
    done = subprocess.run([sys.executable, "-c", SIGNATURES], capture_output=True, check=True)
    found = json.loads(done.stdout)
    kinds = {name: {LAYOUT.sub("", one) for one in all_} for name, all_ in found.items()}
    twice = {name for name, all_ in found.items() if len(all_) > len(kinds[name])}
    assert twice == set()
    print(sum(map(len, found.values())), sum(map(len, kinds.values())))
    assert sum(map(len, found.values())) < 1
