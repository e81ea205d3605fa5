"""What a user waits for before the first sample: import, and the first encode from a warm cache."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from gangsaw.tasks.bench.table import Row

IMPORT = "import gangsaw"
FIRST_ENCODE = """
import time
import numpy as np
from gangsaw.codecs import Ccsds123
x = np.zeros((16, 64, 64), np.uint16)
coder = Ccsds123(bit_depth=12).coder(x.shape, x.dtype)
start = time.perf_counter()
coder.encode(x)
print(time.perf_counter() - start)
"""


def run(code: str) -> tuple[float, str]:
    """Return the seconds a fresh interpreter takes for the code, and what it prints."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return time.perf_counter() - start, done.stdout


def rows(rounds: int = 7) -> Iterator[Row]:
    """Yield medians over fresh processes, the first of each left out."""
    empty = statistics.median([run("pass")[0] for _ in range(rounds)])
    imported = statistics.median([run(IMPORT)[0] for _ in range(rounds)]) - empty
    yield Row("import gangsaw", imported, "s", "<= 0.5", "less an empty interpreter")
    run(FIRST_ENCODE)
    firsts = [float(run(FIRST_ENCODE)[1]) for _ in range(rounds)]
    yield Row("first encode, warm Numba cache", statistics.median(firsts), "s", "<= 1")
