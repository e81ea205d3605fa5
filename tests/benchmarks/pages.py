"""Pages of results: sections of rows as Markdown with plots, and a JSON file for each page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from gangsaw.tasks.bench.table import (
    VECTORS,
    OtherMachine,
    Row,
    dump,
    environment,
    markdown_table,
    say,
)

Sections = dict[str, list[Row]]  # rows by title of the section
Machine = Mapping[str, str]


@dataclass(frozen=True)
class Page:
    """One page of results.

    Attributes
    ----------
    file, introduction : file name, and the text before its tables
    sections : titles by name; rows come from `rows` of the module bench_NAME
    plots : module whose `draw` makes plots of the sections, or ""
    """

    file: str
    introduction: str
    sections: Mapping[str, str]
    plots: str = ""

    def measured(self, names: Iterable[str]) -> Sections:
        """Return the measured rows of the named sections."""
        found: Sections = {}
        for name in (name for name in self.sections if name in names):
            say(f"== {name}")
            found[self.sections[name]] = list(import_module(f"bench_{name}").rows())
        return found

    def write(self, folder: Path, names: Sequence[str]) -> None:
        """Measure some sections and write the page; other sections keep their rows and machine.

        Earlier rows of a measured section, from a machine with other vectors, become a column.
        """
        file = folder / self.file
        data = file.with_name(f"{file.stem.lower()}.json")
        earlier = _of_earlier_runs(data)
        measured = self.measured(names)
        known = {**earlier.sections, **measured}
        sections = {title: known[title] for title in self.sections.values() if title in known}
        others = {
            title: at
            for title, at in earlier.elsewhere.items()
            if title in sections and title not in measured
        }
        beside = {t: own for t in sections if (own := earlier.find_other_machine(t, t in measured))}
        plots = self._plotted(folder, sections)
        file.write_text(f"{self.introduction}\n{tables(sections, others, beside)}{plots}")
        data.write_text(dump(sections, others, beside))

    def _plotted(self, folder: Path, sections: Mapping[str, Sequence[Row]]) -> str:
        """Write the plots as SVG, reproducibly; return links to them."""
        if not self.plots:
            return ""
        from matplotlib import rc_context

        named = {
            name: sections[title] for name, title in self.sections.items() if title in sections
        }
        links = []
        with rc_context({"svg.hashsalt": "gangsaw", "svg.fonttype": "none"}):
            for name, caption, figure in import_module(self.plots).draw(named):
                figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
                links.append(f"\n![{caption}]({name}.svg)\n")
        return "".join(links)


@dataclass(frozen=True)
class _Earlier:
    """Earlier contents of a page: rows by section, their machines, columns of other machines."""

    sections: Sections
    elsewhere: Mapping[str, Machine]
    beside: Mapping[str, OtherMachine]

    def find_other_machine(self, title: str, is_measured: bool) -> OtherMachine | None:
        """Return the column of a section from a machine with other vectors than this one."""
        at, rows = self.elsewhere.get(title, {}), self.sections.get(title, [])
        here, there = environment().get(VECTORS), at.get(VECTORS)
        if is_measured and rows and there and here != there:
            return OtherMachine(at, tuple(rows))
        return self.beside.get(title)


def _of_earlier_runs(data: Path) -> _Earlier:
    """Return the contents of a page's JSON file; empty if it does not exist."""
    document = json.loads(data.read_text()) if data.exists() else {"sections": {}}
    sections = {title: [Row(**row) for row in rows] for title, rows in document["sections"].items()}
    known = document.get("elsewhere", {})
    places = {title: known.get(title, document["machine"]) for title in sections}
    beside = {
        title: OtherMachine(own["machine"], tuple(Row(**row) for row in own["rows"]))
        for title, own in document.get("beside", {}).items()
    }
    here = environment()
    others = {title: place for title, place in places.items() if place != here}
    return _Earlier(sections, others, beside)


def tables(
    sections: Mapping[str, Sequence[Row]],
    elsewhere: Mapping[str, Machine],
    other_machine: Mapping[str, OtherMachine] | None = None,
) -> str:
    """Return the description of the machine, and a table for each section.

    A section from another machine, or a column from one, has a line with the differences.
    """
    here = environment()
    texts = [_listed(here)]
    for title, rows in sections.items():
        there, other = elsewhere.get(title, {}), (other_machine or {}).get(title)
        differs = _different(there, here)
        about = f"Measured with {_listed(differs)}" if differs else ""
        if other:
            own = _different(other.machine, {**here, **there})
            about += f"The column {other.machine[VECTORS]}: {_listed(own)}"
        texts.append(markdown_table(title, rows, about, other))
    return "\n".join(texts)


def _different(there: Machine, here: Machine) -> Machine:
    return {name: value for name, value in there.items() if here.get(name) != value}


def _listed(machine: Machine) -> str:
    return ", ".join(f"{name} {value}" for name, value in machine.items()) + "\n"
