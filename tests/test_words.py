"""Identifiers of the product in terms of the field: no word of an earlier private vocabulary."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("codecs", "tasks", "cluster", "src")
# words that meant something else here than in the field: bases or bytes were letters, for example
PRIVATE = {
    "told", "tells", "said", "says", "asked", "asks", "kept", "held", "taken", "beside",
    "stranger", "flying", "flight", "patience", "rehearsal", "tally", "noted", "habits",
    "standing", "makers", "sealed", "alike", "octets", "turned", "room", "suits", "witness",
    "stamps", "places", "letters", "tenths",
}  # fmt: skip
KNOWN = {
    "tasks/genomics/genomes/collections/collected.py: letters_of",  # of a stored form
    "tasks/genomics/genomes/stored/record.py: letters",  # public: `GenomeRecord.letters`
    "tasks/tcr/commands/association.py: TENTHS",  # columns of a table
}


def names_of(path: Path) -> Iterator[str]:
    """Yield the names of a module's functions, classes, arguments and module-level variables."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
    for line in tree.body:
        if isinstance(line, ast.Assign):
            yield from (one.id for one in line.targets if isinstance(one, ast.Name))


def words_of(name: str) -> set[str]:
    """Return the words of an identifier in snake case or camel case."""
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def offenders() -> set[str]:
    """Return each file and name with a private word."""
    found = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            where = str(path.relative_to(ROOT))
            names = [name for name in names_of(path) if words_of(name) & PRIVATE]
            found |= {f"{where}: {name}" for name in names}
            if words_of(path.stem) & PRIVATE:
                found.add(where)
    return found


def test_identifiers_have_no_private_word() -> None:
    assert offenders() == KNOWN


def test_words_are_found_in_both_cases() -> None:
    assert words_of("KeptLines") & PRIVATE == {"kept"}
    assert words_of("_lines_told") & PRIVATE == {"told"}
