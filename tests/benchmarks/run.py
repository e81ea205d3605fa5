"""All benchmarks, or those named, as Markdown pages and JSON files.

python tests/benchmarks/run.py                       # all: about half an hour
python tests/benchmarks/run.py ccsds123 startup      # some, printed
python tests/benchmarks/run.py --write RESULTS       # a page: RESULTS.md and results.json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from table import Row, dump, environment, markdown, say

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Page:
    """A page of results: what stands above its tables, and the title of each benchmark."""

    introduction: str
    sections: dict[str, str]


CODECS = {
    "ccsds123": "CCSDS-123 on one core",
    "peers": "The codec beside its peers, one thread, same run",
    "job": "Two cores and the whole job",
    "blocks": "What blocks and their index cost",
    "startup": "Start-up",
    "scheduling": "Scheduling of large jobs",
    "defaults": "How the default parameters were chosen",
}
CODECS_INTRODUCTION = """# Results

Written by `python tests/benchmarks/run.py --write RESULTS`. Speeds of one core are CPU time,
medians of several rounds; the others are wall clock. Samples, not bytes: a 16-bit Msample is 2 MB.
The synthetic scenes are those of `gangsaw demo`; rows on real scenes need the shared data folder
and are absent without it.

The machine is shared: where the peers' rows are low, so are ours. RESULTS-AVX512.md has an earlier
run, on a processor with wider vectors.
"""
TCR = {"tcr_statistics": "What the human and mouse sets say"}
TCR_INTRODUCTION = """# Results: recombination paths of T-cell receptors

Written by `python tests/benchmarks/run.py --write RESULTS-TCR`. Rows on real repertoires need the
shared data folder and are absent without it; they are figures of data, the same on every machine.

The human set has 21 donors (aging data of VDJtools, each sample drawn down to 10,000 reads), one
of them with a second, whole sample. The mouse set has 78 subjects and T cells that were sorted by
the epitope they bind (Dash 2017), some 20 of each: what they share was selected. The source
compared two mice of 101,822 nucleotypes together (1,228 shared), five of 3,418,373 (227,759
shared), and 100 humans of 43 million. Here few are shared, and intervals are wide from three
individuals on.

A nucleotype is a CDR3 with its V and J. "all" are the paths with every D gene that pairs with the
J, and with none; a gene with two alleles counts twice. N1, N2 and NDN lie between V and D, D and J,
V and J; of the D genes the one with the longest match counts, and of equals the one that leaves the
fewest nucleotides beside it. P values of Spearman's rho are by the t distribution, those of the
regression by the normal one. Predictors go together (NDN is nearly N1 + D + N2, path counts follow
from the lengths): a coefficient is the effect beside all others, which the correlations are not.
"""
PAGES = {
    "RESULTS": Page(CODECS_INTRODUCTION, CODECS),
    "RESULTS-TCR": Page(TCR_INTRODUCTION, TCR),
}
SECTIONS = {name: title for page in PAGES.values() for name, title in page.sections.items()}


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *SECTIONS], metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--write", choices=PAGES, help="run all of a page and write its files")
    options = parser.parse_args()
    if options.write:
        page = PAGES[options.write]
        sections = _run(page.sections)
        (HERE / f"{options.write}.md").write_text(f"{page.introduction}\n{_tables(sections)}")
        (HERE / f"{options.write.lower()}.json").write_text(dump(sections))
        return
    sections = _run(options.names or SECTIONS)
    sys.stdout.write(dump(sections) if options.json else _tables(sections))


def _run(names: Iterable[str]) -> dict[str, list[Row]]:
    sections: dict[str, list[Row]] = {}
    for name in names:
        say(f"== {name}")
        sections[SECTIONS[name]] = list(import_module(f"bench_{name}").rows())
    return sections


def _tables(sections: dict[str, list[Row]]) -> str:
    tables = (markdown(title, rows) for title, rows in sections.items())
    return "\n".join([_environment(), *tables])


def _environment() -> str:
    return ", ".join(f"{name} {value}" for name, value in environment().items()) + "\n"


if __name__ == "__main__":
    main()
