"""One command: python -m fuzz [NAME ...] --seconds 60 --seed 0, from the folder `tests`.

It makes the same attempts for the same seed. `--count` ends a target after so many attempts,
`--first` begins at a later one, `--page` writes counts and findings as a page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fuzz.page import page
from fuzz.runs import run
from fuzz.targets import targets


def main() -> int:
    """Attack all targets whose names begin as those given; return 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", help="what names of targets begin with; all if none")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each target")
    parser.add_argument("--count", type=int, default=1 << 40, help="attempts at each target")
    parser.add_argument("--first", type=int, default=0, help="number of the first attempt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, help="Markdown file to write")
    asked = parser.parse_args()
    outcomes = {}
    for name in targets():
        if asked.names and not name.startswith(tuple(asked.names)):
            continue
        found = outcomes[name] = run(name, asked.seed, asked.count, asked.seconds, asked.first)
        lines = [f"{name}: {found.attempts} attempts, {found.seconds:.0f} s", *found.findings]
        sys.stdout.write("\n  ".join(lines) + "\n")
        sys.stdout.flush()
        if asked.page:
            asked.page.write_text(page(outcomes, asked.seed))
    return int(any(found.findings for found in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
