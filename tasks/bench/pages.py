"""Pages of results: sections of rows as Markdown with plots, each page with its JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from gangsaw.tasks.bench.table import VECTORS, Beside, Row, dump, environment, markdown, say

Sections = dict[str, list[Row]]  # by title
Machine = Mapping[str, str]


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes
    ----------
    file, introduction : its name, and the text before its tables
    sections : titles by name; rows come from `rows` of the module bench_NAME
    plots : module whose `draw` makes plots of the sections, or ""
    """

    file: str
    introduction: str
    sections: Mapping[str, str]
    plots: str = ""

    def measured(self, names: Iterable[str]) -> Sections:
        """Measure those sections that are named."""
        found: Sections = {}
        for name in (name for name in self.sections if name in names):
            say(f"== {name}")
            found[self.sections[name]] = list(import_module(f"bench_{name}").rows())
        return found

    def write(self, folder: Path, names: Sequence[str]) -> None:
        """Measure some sections; the others keep their rows, and where these were measured.

        Rows that a section had with other vectors stay beside its new ones, as a column.
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
        beside = {t: own for t in sections if (own := earlier.beside_of(t, t in measured))}
        plots = self._plotted(folder, sections)
        file.write_text(f"{self.introduction}\n{tables(sections, others, beside)}{plots}")
        data.write_text(dump(sections, others, beside))

    def _plotted(self, folder: Path, sections: Mapping[str, Sequence[Row]]) -> str:
        """Write the plots as SVG, the same file for the same rows; return links to them."""
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
    """What a page had: rows by section, where others were measured, and columns of others."""

    sections: Sections
    elsewhere: Mapping[str, Machine]
    beside: Mapping[str, Beside]

    def beside_of(self, title: str, is_measured: bool) -> Beside | None:
        """Return what a section has with other vectors than here, where it is measured."""
        at, rows = self.elsewhere.get(title, {}), self.sections.get(title, [])
        here, there = environment().get(VECTORS), at.get(VECTORS)
        if is_measured and rows and there and here != there:
            return Beside(at, tuple(rows))
        return self.beside.get(title)


def _of_earlier_runs(data: Path) -> _Earlier:
    """Read the JSON file of a page; all is empty where there is none."""
    document = json.loads(data.read_text()) if data.exists() else {"sections": {}}
    sections = {title: [Row(**row) for row in rows] for title, rows in document["sections"].items()}
    known = document.get("elsewhere", {})
    places = {title: known.get(title, document["machine"]) for title in sections}
    beside = {
        title: Beside(own["machine"], tuple(Row(**row) for row in own["rows"]))
        for title, own in document.get("beside", {}).items()
    }
    here = environment()
    others = {title: place for title, place in places.items() if place != here}
    return _Earlier(sections, others, beside)


def tables(
    sections: Mapping[str, Sequence[Row]],
    elsewhere: Mapping[str, Machine],
    beside: Mapping[str, Beside] | None = None,
) -> str:
    """Return where and with what was measured, and a table for each section.

    Below the title of a section that was measured elsewhere stands what was different there, and
    what was different where its further column was measured.
    """
    here = environment()
    texts = [_listed(here)]
    for title, rows in sections.items():
        there, other = elsewhere.get(title, {}), (beside or {}).get(title)
        differs = _different(there, here)
        about = f"Measured with {_listed(differs)}" if differs else ""
        if other:
            own = _different(other.machine, {**here, **there})
            about += f"The column {other.machine[VECTORS]}: {_listed(own)}"
        texts.append(markdown(title, rows, about, other))
    return "\n".join(texts)


def _different(there: Machine, here: Machine) -> Machine:
    return {name: value for name, value in there.items() if here.get(name) != value}


def _listed(machine: Machine) -> str:
    return ", ".join(f"{name} {value}" for name, value in machine.items()) + "\n"
