"""README and documentation: length, sentences, links, and figures equal to the results."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import quantiles
from types import ModuleType

import pytest

from gangsaw.tasks.formats.contract import table

ROOT = Path(__file__).resolve().parents[1]
# pages that docs/_make/reference.py writes, where the site was built here
GENERATED = re.compile(
    r"docs/(_build|jupyter_execute|reference/(commands|api|spec)"
    r"|explanation/results|project/(changelog|contributing))\b"
)
FOUND = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [path for path in FOUND if not GENERATED.search(str(path))]
END = r"(?<=[.!?:])(?<!\b[A-Z]\.)\s+(?=[A-Z\[*\"])"  # of a sentence, not of an initial
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
IDS = [str(path.relative_to(ROOT)) for path in PAGES]


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of prose of a page: no code, tables, directives, headings or lists."""
    text = re.sub(r"(```|:::+).*?\1", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    found = []
    for block in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", text):
        block = re.sub(r"^([-*]|\d+\.)\s+", "", block.strip())
        if block and not block.startswith(("#", "|", "!", ":", "(", "```")):
            found.append(" ".join(block.split()))
    return found


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph; code and targets of links count as one word."""
    plain = re.sub(r"`[^`]*`", "Code", re.sub(r"\]\([^)]*\)", "]", paragraph))
    return [one for one in re.split(END, plain) if one.strip()]


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_sentences_are_short(path: Path) -> None:
    """Nine of ten have at most 25 words; a paragraph has at most five."""
    blocks = paragraphs(path.read_text())
    lengths = [len(one.split()) for block in blocks for one in sentences(block)]
    if len(lengths) > 1:
        assert quantiles(lengths, n=10)[-1] <= 25, sorted(lengths)[-5:]
    assert [block for block in blocks if len(sentences(block)) > 5] == []


def test_the_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize(
    "command",
    [
        "compress scene.hdr",
        "compress observation.ms",
        "compress reads_1",
        "compress genome",
        "compress access.log",
        "tcr count",
    ],
)
def test_the_first_command_of_each_field_comes_early(command: str) -> None:
    text = (ROOT / "README.md").read_text()
    before = re.sub(r"\]\([^)]*\)|<!--.*?-->", " ", text[: text.index(f"gangsaw {command}")])
    assert len(re.findall(r"\w[\w.-]*", before)) <= 150


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_links_lead_to_files(path: Path) -> None:
    """Those of pages of the site are also checked when it is built."""
    links = re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", path.read_text())
    missing = [
        link
        for link in links
        if "://" not in link
        and not link.startswith("mailto:")
        and not GENERATED.search(str((path.parent / link).resolve()))
        and not (path.parent / link).resolve().exists()
    ]
    assert missing == []


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import a script of docs/_make by its name."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "_make")

    def load(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, name, raising=False)
        return import_module(name)

    return load


def test_every_command_name_and_format_has_its_page(
    script: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    """Reference pages are generated from the entry points, commands and `__all__`."""
    pages = script("reference")
    pages.write_pages(tmp_path)
    for name, _ in pages.commands():
        page = tmp_path / "reference" / "commands" / f"{name.replace(' ', '-')}.md"
        assert page.read_text().startswith(f"# gangsaw {name}\n"), name
    for module, names in pages.public_names().items():
        text = (tmp_path / "reference" / "api" / f"{module}.rst").read_text()
        shown = r"^(\.\. auto\w+:: {0}|``{1}\.{0}`` is :obj:.*)$"
        missing = [n for n in names if not re.search(shown.format(n, module), text, re.M)]
        assert [name for name in missing if not name.endswith("V2")] == [], module
    formats = (tmp_path / "reference" / "formats.md").read_text()
    assert all(f"| `{name}` |" in formats for name in table.formats())
    for page in (
        "formats",
        "codecs",
        "extras",
    ):  # committed, so that links in a clone have a target
        committed = (ROOT / "docs" / "reference" / f"{page}.md").read_text().splitlines()
        generated = (tmp_path / "reference" / f"{page}.md").read_text().splitlines()
        assert set(committed) <= set(generated), page  # plugins add lines


def test_the_chart_and_the_table_show_the_results(script: Callable[[str], ModuleType]) -> None:
    """As `python docs/_make/ratios.py` writes them."""
    ratios = script("ratios")
    found = ratios.comparisons()
    assert (ratios.PICTURES / "ratios.svg").read_text() == ratios.draw_bars(found)
    readme = (ROOT / "README.md").read_text()
    assert ratios.with_table(readme, ratios.table_lines(found)) == readme


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_stores_its_outputs(path: Path) -> None:
    """The documentation shows them; `python docs/_make/notebooks.py` writes them."""
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in cells)
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", ()) for output in outputs)
    assert not any(output["output_type"] == "error" for output in outputs)


def test_notebooks_are_found() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"hyperspectral", "reads", "tcr"}
