"""Every reference of code and tests leads somewhere: to a heading of ours, or to a standard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("codecs", "tasks", "cluster", "src", "tests", "notebooks", "deploy")
SUFFIXES = {".py", ".cu", ".cuh"}
# a page of ours, by its path or the nearest above; behind a comma, a heading of it
PAGE = re.compile(r'(?P<folder>(?:\w+/)+)?SPEC\.md(?:,\s(?:"(?P<quoted>[^"]+)"|(?P<word>[\w-]+)))?')
# "section 7": of what? A clause of a standard stands behind the standard's name
SECTION = re.compile(r"\bsections?\s\d", re.IGNORECASE)
CLAUSE = re.compile(r"\b[345]\.\d+\.\d+(?:\.\d+)?\b")
STANDARD = re.compile(r"\b12[13]\.0-B-\d\b")
NUMBERED = {"codecs/ccsds123"}  # folders whose code cites clauses by number


def sources() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in SUFFIXES and path != Path(__file__).resolve():
                yield path


def text_of(path: Path) -> str:
    """The file, with comments and strings that go over several lines joined by spaces."""
    return re.sub(r"\s*\n\s*(?:#|//)?\s*", " ", path.read_text())


def page_of(path: Path, folder: str | None) -> Path | None:
    if folder is not None:
        page = REPOSITORY / folder / "SPEC.md"
        return page if page.exists() else None
    tests = REPOSITORY / "tests"  # they mirror the folders
    path = REPOSITORY / path.relative_to(tests) if path.is_relative_to(tests) else path
    above = (parent / "SPEC.md" for parent in path.parents if parent.is_relative_to(REPOSITORY))
    return next((page for page in above if page.exists()), None)


def headings(page: Path) -> set[str]:
    """Headings in lower case, and parts of those such as "Kind 3: dense" and "DP-2 (6)"."""
    lines = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    names = {name.strip("` ").lower() for line in lines for name in (line, *line.split(": "))}
    return names | {name.partition(" (")[0] for name in names}


def problem(path: Path, found: re.Match[str]) -> str:
    """What is wrong with a reference to a page, or ""."""
    page = page_of(path, found["folder"])
    heading = found["quoted"] or found["word"]
    if page is None:
        return "" if path.is_relative_to(REPOSITORY / "tests") and heading is None else "no page"
    return "" if heading is None or heading.lower() in headings(page) else f"not in {page}"


def named(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def test_pages_and_their_headings_exist() -> None:
    wrong = [
        f"{named(path)}: {found[0]}: {why}"
        for path in sources()
        for found in PAGE.finditer(text_of(path))
        if (why := problem(path, found))
    ]
    assert not wrong, "\n".join(wrong)


def test_no_section_is_cited_by_a_number_alone() -> None:
    wrong = [f"{named(p)}: {found[0]}" for p in sources() for found in SECTION.finditer(text_of(p))]
    assert not wrong, "\n".join(wrong)


def test_clauses_are_cited_where_their_standard_is_named() -> None:
    files = [path for path in sources() if any(named(path).startswith(n) for n in NUMBERED)]
    citing = [path for path in files if CLAUSE.search(path.read_text())]
    assert len(citing) > 5
    assert not [named(path) for path in citing if not STANDARD.search(path.read_text())]


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("SPEC.md", True),
        ("SPEC.md, Header", True),
        ('SPEC.md, "What a reader must check"', True),
        ('SPEC.md, "What nobody wrote"', False),
        ("SPEC.md, Nothing", False),
        ('tasks/tcr/SPEC.md, "DP-2"', True),
        ("tasks/nowhere/SPEC.md", False),
    ],
)
def test_a_wrong_reference_is_found(text: str, is_right: bool) -> None:
    found = PAGE.search(text)
    assert found is not None
    assert (problem(REPOSITORY / "codecs" / "core" / "errors.py", found) == "") is is_right
