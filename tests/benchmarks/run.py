"""All benchmarks, or those named, as one Markdown page and one JSON file.

python tests/benchmarks/run.py                       # all: about half an hour
python tests/benchmarks/run.py ccsds123 startup      # some, printed
python tests/benchmarks/run.py --write               # all, into RESULTS.md and results.json
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from table import Row, dump, environment, markdown, say

HERE = Path(__file__).parent
SECTIONS = {
    "ccsds123": "CCSDS-123 on one core",
    "peers": "The codec beside its peers, one thread, same run",
    "job": "Two cores and the whole job",
    "blocks": "What blocks and their index cost",
    "startup": "Start-up",
    "scheduling": "Scheduling of large jobs",
    "defaults": "How the default parameters were chosen",
}
INTRODUCTION = """# Results

Written by `python tests/benchmarks/run.py --write`. Speeds of one core are CPU time, medians of
several rounds; the others are wall clock. Samples, not bytes: a 16-bit Msample is 2 MB. The
synthetic scenes are those of `gangsaw demo`; rows on real scenes need the shared data folder and
are absent without it.

The machine is shared: where the peers' rows are low, so are ours. RESULTS-AVX512.md has an earlier
run, on a processor with wider vectors.
"""


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *SECTIONS], metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md and results.json")
    options = parser.parse_args()
    sections: dict[str, list[Row]] = {}
    for name in options.names or SECTIONS:
        say(f"== {name}")
        sections[SECTIONS[name]] = list(import_module(f"bench_{name}").rows())
    page = "\n".join([_environment(), *(markdown(t, rows) for t, rows in sections.items())])
    if options.write:
        (HERE / "RESULTS.md").write_text(f"{INTRODUCTION}\n{page}")
        (HERE / "results.json").write_text(dump(sections))
        return
    sys.stdout.write(dump(sections) if options.json else page)


def _environment() -> str:
    return ", ".join(f"{name} {value}" for name, value in environment().items()) + "\n"


if __name__ == "__main__":
    main()
