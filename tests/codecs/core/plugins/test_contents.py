"""What a format says that an array holds has one home: no other file spells these words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins import contents
from gangsaw.codecs.core.plugins.selection import CONTENT as OF_SUITS
from gangsaw.codecs.core.plugins.selection import ArrayFacts, Grade

REPOSITORY = Path(__file__).parents[4]
HOME = "codecs/core/plugins/contents.py"
WORDS = {name: word for name, word in vars(contents).items() if name.isupper()}
# the same word for something else
OTHERS = {
    ("tasks/tcr/germline/table.py", contents.NUCLEOTIDES): "a column that tables of genes may have",
    (
        "tasks/tcr/repertoire/cleaning/clean.py",
        contents.NUCLEOTIDES,
    ): "a unit, in the reason of a row",
    ("tasks/tcr/annotation/keys.py", contents.RECORD_PLACES): "an array of where junctions begin",
    ("tasks/text/report.py", contents.LINE_ENDS): "a row of what is told of a text",
}


def spelled() -> Iterator[tuple[str, str]]:
    """File and word, for each constant of the package that is one."""
    for folder in ("codecs", "tasks", "cluster", "src"):
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and node.value in WORDS.values():
                    yield path.relative_to(REPOSITORY).as_posix(), str(node.value)


def test_no_other_file_spells_them() -> None:
    found = set(spelled())
    assert {word for file, word in found if file == HOME} == set(WORDS.values())
    assert {one for one in found if one[0] != HOME} == OTHERS.keys()


def test_each_word_is_there_once() -> None:
    assert len(set(WORDS.values())) == len(WORDS)
    assert OF_SUITS == contents.CONTENT


def test_codecs_are_made_for_what_the_words_say() -> None:
    """Those that no codec looks for are made for none."""
    made_for = {}
    for word in set(WORDS.values()) - {contents.CONTENT}:
        array = ArrayFacts("a", (9,), np.dtype("u1"), ("x",), {contents.CONTENT: word})
        answers = codec_table.capabilities().items()
        made_for[word] = {name for name, of in answers if of.grade(array) == Grade.MADE_FOR}
    assert made_for == {
        contents.NUCLEOTIDES: {"gangsaw.dna"},
        contents.KNOWN_NUCLEOTIDES: {"gangsaw.dna"},
        contents.INTEGER_ROWS: {"gangsaw.integers"},
        contents.READ_SEQUENCES: {"gangsaw.reads"},
        contents.READ_QUALITIES: {"gangsaw.reads"},
        contents.READ_NAMES: {"gangsaw.reads"},
        contents.LINE_OFFSETS: {"gangsaw.reads"},
        contents.TEXT: {"gangsaw.bwt"},
        contents.RECORD_PLACES: set(),
        contents.LINE_ENDS: set(),
    }
