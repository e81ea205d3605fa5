"""Measure what the quick tests miss: mutations of the product, in a seeded draw.

    PYTHONPATH=tests python -m pytest -p mutations.reach --reach-out FOLDER --all
    cd tests && python -m mutations FOLDER --page benchmarks/RESULTS-MUTATIONS.md

Each mutation is tried on the tests of the quick tier that run the changed function, and if it
survives them, on the other tests of the full suite that do. It takes Python 3.12 or newer and the
package installed by `pip install .` (not `-e`). The page lies next to a JSON file of the same
name: mutations that are in it are not tried again.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from mutations.mutate import draw
from mutations.page import page
from mutations.reach import Reach, load
from mutations.trial import Copy, collected, try_mutation

MOST_QUICK, MOST_FULL = 150.0, 600.0  # processor seconds of tests that one mutation is tried on


def main() -> None:
    """Try mutations and write the page."""
    parser = argparse.ArgumentParser(prog="python -m mutations", description=__doc__)
    parser.add_argument("reach", type=Path, help="folder that the plugin mutations.reach wrote")
    parser.add_argument("--count", type=int, default=60, help="number of mutations")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--page", type=Path, required=True, help="Markdown file to write")
    parser.add_argument("-n", type=int, default=2, help="processes of the full tests")
    options = parser.parse_args()
    reach, record = load(options.reach), options.page.with_suffix(".json")
    rows = json.loads(record.read_text()) if record.exists() else {}
    with TemporaryDirectory() as folder:
        copy = Copy.make(Path(folder))
        if not copy.is_used():
            parser.error("the package is installed by `pip install -e`: use `pip install .`")
        quick, every = collected(copy), collected(copy, "--all")
        for mutation in draw(copy.root, options.count, options.seed):
            key = f"{mutation.file}:{mutation.line}: {mutation.before} -> {mutation.after}"
            if key not in rows:
                tests = [test for test in reach.tests_of(mutation) if test in every]
                first = _cheapest([t for t in tests if t in quick], reach, MOST_QUICK)
                more = reach.of_folder(mutation, every - {*tests})
                others = [t for t in (*tests, *more) if t not in first]
                others = _cheapest(others, reach, MOST_FULL)
                by_quick = try_mutation(mutation, copy, first, 1)
                by_full = "" if by_quick else try_mutation(mutation, copy, others, options.n)
                rows[key] = {**asdict(mutation), "tests": len(tests), "quick_tests": len(first)}
                rows[key] |= {"quick": by_quick, "full": by_full}
                record.write_text(json.dumps(rows, indent=1) + "\n")
                options.page.write_text(page(list(rows.values()), options.seed))
            sys.stdout.write(f"{key}: {rows[key]['quick'] or rows[key]['full'] or 'survived'}\n")
            sys.stdout.flush()


def _cheapest(tests: list[str], reach: Reach, most: float) -> list[str]:
    """Return tests in their order until they take `most` seconds together."""
    found, spent = list[str](), 0.0
    for test in tests:
        spent += reach.cpu.get(test, 1.0)
        if spent > most:
            break
        found.append(test)
    return found


if __name__ == "__main__":
    main()
