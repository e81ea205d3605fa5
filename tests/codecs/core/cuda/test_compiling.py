"""Kernels on other machines, and compiled by several processes at once: always the same bytes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

# Prints a hash of what was encoded, once it has come back equal.
SCRIPT = """
import hashlib

import numpy as np

from gangsaw.codecs.ccsds123 import Params, decode_stream, encode_stream

seeded = np.random.default_rng(7)
image = (500 + np.cumsum(seeded.integers(-9, 10, (20, 9, 40)), 0)).clip(0, 4095).astype(np.uint16)
digest = hashlib.sha256()
for params in PARAMS:
    stream = encode_stream(image, params)
    digest.update(stream)
    assert np.array_equal(decode_stream(stream)[0], image)
print(digest.hexdigest())
"""
DEFAULT = "[Params()]"  # with one set of parameters half a minute of compiling is enough
MANY = """[
    Params(),
    Params(mode="full", prediction_bands=15, weight_resolution=19, register_size=64),
    Params(order="bi", interleave_depth=7, local_sum="narrow_column"),
    Params(coder="block"),
]"""
# Of LLVM's names: SSE2 alone, SSE4, AVX without the integers of AVX2, AVX2 with fused instructions.
# Those between the first and the last one take one set of parameters.
OLDER = {"generic": MANY, "x86-64-v2": DEFAULT, "sandybridge": DEFAULT, "haswell": MANY}


def start(params: str, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT.replace("PARAMS", params)],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


@pytest.mark.full  # each compiles everything
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names x86 machines")
@pytest.mark.parametrize(("cpu", "params"), OLDER.items(), ids=OLDER)
def test_older_machines_write_the_same_bytes(cpu: str, params: str, tmp_path: Path) -> None:
    older = {"NUMBA_CPU_NAME": cpu, "NUMBA_CACHE_DIR": str(tmp_path)}
    older["NUMBA_CPU_FEATURES"] = ""  # those of its name: unset means those of this machine
    assert answer(start(params, **older)) == answer(start(params))


@pytest.mark.full  # four processes, three of which compile
def test_two_processes_may_compile_at_once(tmp_path: Path) -> None:
    """Into one empty cache, which serves a third process after them."""
    shared = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    both = [start(DEFAULT, **shared) for _ in range(2)]
    first, second = map(answer, both)
    assert first == second == answer(start(DEFAULT))
    files = kept(tmp_path / "cache")
    assert files
    assert answer(start(DEFAULT, **shared)) == first
    assert kept(tmp_path / "cache") == files  # a cache that served writes nothing


def kept(cache: Path) -> dict[str, int]:
    """When each kernel was written."""
    return {str(path): path.stat().st_mtime_ns for path in cache.rglob("*.nb?")}


@pytest.mark.full  # compiles for another processor
def test_kernels_do_without_avx_where_numba_is_told_to(tmp_path: Path) -> None:
    """Else LLVM gives up, and the process with it."""
    env = {**os.environ, "NUMBA_ENABLE_AVX": "0", "NUMBA_CACHE_DIR": str(tmp_path)}
    code = (
        "import numpy as np; from gangsaw.codecs.core.container.checksum import crc32c; "
        "from gangsaw.codecs.visibility.fast import cpu as fast; "
        "block = np.ones((4, 40, 8), 'c8'); "
        "out = np.empty_like(block); fast.decode_fast(fast.encode_fast(block), out); "
        "print((out == block).all(), crc32c(bytes(9999)) == crc32c(bytes(9), crc32c(bytes(9990))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True", "True"], done.stderr[-1000:]
