"""What keeps first runs short: kernels call nothing that compiles for long, and once per kind.

Seconds are in `tests/benchmarks/compiled.py`; a test of them would take minutes.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import cast

import pytest
from helpers.compiled import run
from helpers.imports import package

LONG = {"argsort", "median", "percentile", "searchsorted", "sort", "take", "unique"}
SHORT = {  # where what would stand there instead is no faster to compile, or slower to run
    "tasks/genomics/align/search/search.py": {"append_hits: searchsorted"},
    "tasks/genomics/align/search/seeds/anchors.py": {"sort_words: sort"},
}
AT_BORDER = {  # of arrays that callers gave, as they are
    "codecs.ccsds123.predict.rows._load_rows",
    "codecs.dna.letters.coding.pack_text",
    "codecs.reads.lines.count_newlines",
    "codecs.reads.lines.count_used",
    "codecs.reads.lines.find_newlines",
}
LAYOUT = re.compile(r"readonly |(?<=\dd, )[ACF](?=[),])")
NUMBER = re.compile(r"(?<![\w(])(u?int\d+|bool)(?=, |$)")
SIGNATURES = """
import json, sys
from collections import defaultdict
from itertools import islice
from numba.core.dispatcher import Dispatcher
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
from gangsaw.tasks.precompile.samples import codec_names, codec_samples
import numpy as np

found, before = defaultdict(list), Dispatcher._compile_for_args  # what Python calls, by new types
def noted(kernel, *args, **kws):
    name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
    found[name].append(", ".join(str(kernel.typeof_pyval(arg)) for arg in args))
    return before(kernel, *args, **kws)
Dispatcher._compile_for_args = noted
for codec in codec_names():
    for codec_type, sample in islice(codec_samples(codec), 3):
        if issubclass(codec_type, BytesCodec):
            continue
        coder = codec_type(**vars(sample.params)).coder(sample.array.shape, sample.array.dtype)
        coder.decode(coder.encode(sample.array), np.empty_like(sample.array))
json.dump(found, sys.stdout)
"""


def kernels(code: str) -> Iterator[ast.FunctionDef]:
    """Functions that are compiled."""
    for node in ast.walk(ast.parse(code)):
        marks = node.decorator_list if isinstance(node, ast.FunctionDef) else ()
        if any(ast.unparse(mark).startswith("jit") for mark in marks):
            yield cast(ast.FunctionDef, node)


def long_calls(code: str) -> Iterator[str]:
    """Calls in kernels, and slices that are assigned to slices, that take Numba seconds."""
    for kernel in kernels(code):
        yield from (f"{kernel.name}: {name}" for node in ast.walk(kernel) for name in _long(node))


def _long(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in LONG:
            yield name
        case ast.Assign(value=value, targets=targets):
            if _is_slice(value) and any(map(_is_slice, targets)):
                yield "a slice"


def _is_slice(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and any(
        isinstance(part, ast.Slice) for part in ast.walk(node.slice)
    )


@pytest.mark.full
def test_kernels_call_nothing_that_compiles_for_long() -> None:
    found = {path: set(long_calls(code)) for path, code in package().items() if path[-3:] == ".py"}
    assert {path: names for path, names in found.items() if names} == SHORT


def test_the_search_finds_something() -> None:
    code = "@jit(part=True)\ndef f(a, b):\n    a[1:2] = b[3:4]\n    a.sort()\n    b[:] = 0\n"
    assert set(long_calls(code)) == {"f: a slice", "f: sort"}
    assert not set(long_calls(code.replace("@jit(part=True)\n", "")))


def test_kernels_are_compiled_once_per_kind() -> None:
    found = {name: set(types) for name, types in json.loads(run(SIGNATURES)).items()}
    assert len(found) > 50
    twice = {name for name, types in found.items() if len(types) > len(set(map(_plain, types)))}
    assert twice <= {f"gangsaw.{name}" for name in AT_BORDER}


def _plain(types: str) -> str:
    """Types of arguments, but for layouts of arrays and numbers' widths."""
    return NUMBER.sub("number", LAYOUT.sub("", types))
