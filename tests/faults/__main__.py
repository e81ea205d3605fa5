"""One command: python -m faults [PYTEST ARGUMENT ...] --rounds 3, from the folder `tests`.

Runs the tests of faults so often, those with the marker `full`, too, and writes the page from all
counts so far.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from faults.table import VARIABLE, counts, page

TESTS = Path(__file__).parents[1]
COUNTS = TESTS / "benchmarks" / "results-faults.json"
PAGE = TESTS / "benchmarks" / "RESULTS-FAULTS.md"
# files whose tests add rows
FILES = (
    *("cluster/test_hosts.py", "cluster/test_slurm.py"),
    *("tasks/jobs/test_faults.py", "tasks/store/test_far_faults.py"),
)


def main() -> int:
    """Return the worst exit code of the runs."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    asked, chosen = parser.parse_known_args()
    environment = os.environ | {VARIABLE: str(COUNTS)}
    words = (sys.executable, "-m", "pytest", "-q", "-n", "0", "--all", "-m", "not gpu")
    where = [str(TESTS / file) for file in FILES]
    codes = [
        subprocess.run([*words, *where, *chosen], env=environment, check=False).returncode
        for _ in range(asked.rounds)
    ]
    PAGE.write_text(page(counts(COUNTS)))
    return max(codes, default=0)


if __name__ == "__main__":
    sys.exit(main())
