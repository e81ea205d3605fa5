"""Memory that is free goes back to the system, also while a stream is stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gangsaw.codecs.core.memory.returned import MOST_FREE, has_heaps

pytestmark = pytest.mark.skipif(not has_heaps(), reason="needs the GNU C library 2.33")

N, MIB = 40, 1 << 20
# arrays of 8 MiB from a heap, small things between them, which stay while the arrays are freed
SCRIPT = f"""
import sys
from pathlib import Path

import numpy as np

import gangsaw
from gangsaw.codecs.core.memory.returned import return_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

def stored():
    gangsaw.compress(Path(sys.argv[1], "r.fastq"), Path(sys.argv[1], "r.zarr"), overwrite=True)

text = b"".join(b"@%d\\nACGTACGT\\n+\\nFFFFFFFF\\n" % i for i in range(50))
Path(sys.argv[1], "r.fastq").write_bytes(text)
stored()
np.empty(30 << 20, np.uint8)  # smaller ones come from heaps behind it
arrays, pins = [], []
for _ in range({N}):
    arrays.append(np.ones(8 << 20, np.uint8))
    pins.append(np.ones(1 << 20, np.uint8))
arrays.clear()
before = resident()
{{}}
print(before - resident())
"""


@pytest.mark.full
@pytest.mark.parametrize("work", ["return_memory()", "stored()"])
def test_what_is_free_between_small_things_is_given_back(tmp_path: Path, work: str) -> None:
    command = [sys.executable, "-c", SCRIPT.format(work), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) > N * 8 * MIB - MOST_FREE
