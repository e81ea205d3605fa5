"""One command: python -m kills [NAME ...] --kills 100 --page FILE, from the folder `tests`.

The page lies beside a JSON file of the same name, to whose counts those of this run are added: it
may be stopped and begun again. Each round has another seed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from kills.commands import COMMANDS
from kills.killing import Counts, Killing
from kills.page import page

A_ROUND = 20  # kills: counts are written after each


def main() -> None:
    """Kill the commands that are named, or all, in turn."""
    parser = argparse.ArgumentParser(prog="python -m kills", description=__doc__)
    parser.add_argument("names", nargs="*", help="commands; all if none")
    parser.add_argument("--kills", type=int, default=50, help="of all commands together")
    parser.add_argument("--page", type=Path, help="Markdown file to write")
    asked = parser.parse_args()
    names = asked.names or list(COMMANDS)
    seed, done = int(time.time()), 0
    while done < asked.kills:
        for name in names:
            seed += 1
            with TemporaryDirectory() as folder:
                found = Killing(COMMANDS[name], Path(folder), seed).go(A_ROUND)
            done += found.kills
            sys.stdout.write(f"{name}, seed {seed}: {found}\n")
            sys.stdout.flush()
            if asked.page:
                _add(asked.page, name, found)


def _add(file: Path, name: str, found: Counts) -> None:
    kept = file.with_suffix(".json")
    rows = json.loads(kept.read_text()) if kept.exists() else {}
    before = rows.get(name, asdict(Counts()))
    rows[name] = {key: before[key] + more for key, more in asdict(found).items()}
    kept.write_text(json.dumps(rows, indent=1) + "\n")
    file.write_text(page({key: Counts(**row) for key, row in rows.items()}))


if __name__ == "__main__":
    main()
