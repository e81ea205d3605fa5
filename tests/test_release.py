"""Files of a release: fragments of the changelog, and versions and dates that agree."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOWNCRIER = PYPROJECT["tool"]["towncrier"]
TYPES = [each["directory"] for each in TOWNCRIER["type"]]
FRAGMENT = re.compile(r"\+[a-z0-9]+(?:-[a-z0-9]+)*\.(?P<type>[a-z]+)\.md")


def unknown_fragments(names: Sequence[str]) -> list[str]:
    """Return the names that are no fragment of a known type."""
    found = ((name, FRAGMENT.fullmatch(name)) for name in names if name not in TOWNCRIER["ignore"])
    return [name for name, match in found if match is None or match["type"] not in TYPES]


def addresses() -> ModuleType:
    """Import `docs/_make/addresses.py`."""
    path = ROOT / "docs" / "_make" / "addresses.py"
    spec = importlib.util.spec_from_file_location("addresses", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_fragment_has_a_known_type_and_a_text() -> None:
    paths = sorted((ROOT / TOWNCRIER["directory"]).iterdir())
    assert TOWNCRIER["ignore"] == ["README.md"]
    assert not unknown_fragments([path.name for path in paths])
    assert all(path.read_text().strip() for path in paths)


@pytest.mark.parametrize("kind", TYPES)
def test_the_page_of_fragments_names_each_type(kind: str) -> None:
    page = (ROOT / TOWNCRIER["directory"] / "README.md").read_text()
    assert f"`{kind}`" in page
    assert not unknown_fragments([f"+resume-on-s3.{kind}.md", f"+2bit.{kind}.md"])


@pytest.mark.parametrize(
    "name",
    ["+resume.bugfix.md", "+resume.md", "resume.fixed.md", "+Resume.fixed.md", "+resume.fixed.rst"],
)
def test_other_names_are_found(name: str) -> None:
    assert unknown_fragments(["README.md", name]) == [name]


def test_version_and_date_are_the_same_in_all_files() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    text = (ROOT / TOWNCRIER["filename"]).read_text()
    _, sections = text.split(TOWNCRIER["start_string"])
    newest = re.search(r"^## (\S+) - (\S+)$", sections, re.MULTILINE)
    assert newest is not None
    version = PYPROJECT["project"]["version"]
    assert newest.groups() == (version, str(citation["date-released"]))
    assert citation["version"] == version
    assert citation["license"] == PYPROJECT["project"]["license"]
    assert citation["authors"] == PYPROJECT["project"]["authors"]


def test_addresses_exist_only_with_a_home(capsys: pytest.CaptureFixture[str]) -> None:
    module = addresses()
    assert module.theme_options("") == {}
    module.print_addresses("")
    assert capsys.readouterr().out == ""
    home = "https://example.org/gangsaw"
    module.print_addresses(home)
    printed = capsys.readouterr().out
    assert set(tomllib.loads(printed.partition("[![")[0])["project"]["urls"].values()) == {
        home,
        f"{home}/issues",
        f"{home}/blob/main/CHANGELOG.md",
    }
    assert module.theme_options(home)["icon_links"][0]["url"] == home
    assert PYPROJECT["project"].get("urls", {}) == module.list_links()
