"""Pages of results: sections of rows as Markdown with plots, each page with its JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from gangsaw.tasks.bench.table import Row, dump, environment, markdown, say

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
        """Measure some sections; the others keep their rows, and where these were measured."""
        file = folder / self.file
        data = file.with_name(f"{file.stem.lower()}.json")
        kept, elsewhere = _of_earlier_runs(data)
        measured = self.measured(names)
        known = {**kept, **measured}
        sections = {title: known[title] for title in self.sections.values() if title in known}
        others = {t: at for t, at in elsewhere.items() if t in sections and t not in measured}
        plots = self._plotted(folder, sections)
        file.write_text(f"{self.introduction}\n{tables(sections, others)}{plots}")
        data.write_text(dump(sections, others))

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


def _of_earlier_runs(data: Path) -> tuple[Sections, dict[str, Machine]]:
    """Return the sections of a JSON file, and where those of other machines or versions were."""
    document = json.loads(data.read_text()) if data.exists() else {"sections": {}}
    sections = {title: [Row(**row) for row in rows] for title, rows in document["sections"].items()}
    known = document.get("elsewhere", {})
    places = {title: known.get(title, document["machine"]) for title in sections}
    here = environment()
    return sections, {title: place for title, place in places.items() if place != here}


def tables(sections: Mapping[str, Sequence[Row]], elsewhere: Mapping[str, Machine]) -> str:
    """Return where and with what was measured, and a table for each section.

    Below the title of a section that was measured elsewhere stands what was different there.
    """
    here = environment()
    texts = [_listed(here)]
    for title, rows in sections.items():
        there = elsewhere.get(title, {})
        differs = {name: value for name, value in there.items() if here.get(name) != value}
        texts.append(markdown(title, rows, f"Measured with {_listed(differs)}" if differs else ""))
    return "\n".join(texts)


def _listed(machine: Machine) -> str:
    return ", ".join(f"{name} {value}" for name, value in machine.items()) + "\n"
