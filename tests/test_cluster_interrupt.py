"""Ctrl-C while workers start: nothing of them is left that Dask would fail to close at exit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os, signal, threading
from distributed import LocalCluster
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.local import start

def begin(self):  # the instant at which Dask has workers, none of them started
    LocalCluster._correct_state = kept  # closing comes here too
    os.kill(os.getpid(), signal.SIGINT)
    return kept(self)

if __name__ == "__main__":
    kept, LocalCluster._correct_state = LocalCluster._correct_state, begin
    try:
        with start(ClusterConfig(workers=1, silent=True)):
            print("went on")
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_an_interrupt_waits_for_the_workers(tmp_path: Path) -> None:
    (script := tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n"
    assert done.stderr == ""
