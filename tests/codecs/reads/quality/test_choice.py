"""The tree of contexts: its costs, its choice, its bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log2
from typing import NamedTuple

import numpy as np
import pytest

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads.lines import find_lines
from gangsaw.codecs.reads.quality.choice import count
from gangsaw.codecs.reads.quality.choice.choose import chosen_tree, counts_of_tables
from gangsaw.codecs.reads.quality.choice.costs import BIT, INDEX_BITS, information, logarithms
from gangsaw.codecs.reads.quality.choice.count import ContextCounts
from gangsaw.codecs.reads.quality.contexts import Components, components_of
from gangsaw.codecs.reads.quality.tree import (
    MOST_TABLES,
    Tree,
    read_tree,
    stored_tree,
    table_map,
)
from gangsaw.codecs.reads.quality.values import values_of


def test_logarithms_are_right_to_their_last_bit() -> None:
    n = 1 << INDEX_BITS
    expected = [log2(1 + i / n) * BIT for i in range(n + 1)]
    assert np.abs(logarithms() - expected).max() < 1.01


def test_information_is_n_log_n() -> None:
    for n in (0, 1, 2, 3, 100, 12_345, 1 << 25, (1 << 28) - 1):
        expected = n * log2(n) if n else 0
        assert abs(information(n, logarithms()) / BIT - expected) <= 1e-6 * expected


def counted(n_values: int, n: int, strength: float) -> tuple[ContextCounts, Components]:
    """Values that mostly are the first component, or counted from the other end for odd pairs."""
    rng, components = np.random.default_rng(n), components_of(n_values)
    contexts = np.stack([rng.integers(0, size, n) for size in components.sizes], 1)
    noise = rng.integers(0, n_values, n)
    told = np.where(contexts[:, 2] % 2, n_values - 1 - contexts[:, 0], contexts[:, 0])
    values = np.where(rng.random(n) < strength, told, noise)
    found, rows = np.unique(contexts, axis=0, return_inverse=True)
    counts = np.zeros((len(found), n_values), np.uint32)
    np.add.at(counts, (rows.ravel(), values), np.uint32(1))
    return ContextCounts(found.astype(np.uint8), counts, 1, True), components


def test_what_tells_nothing_is_not_split() -> None:
    tree = chosen_tree(*counted(8, 20_000, 0.0))
    assert tree.n_tables == 1


def test_what_tells_much_is_split() -> None:
    tree = chosen_tree(*counted(8, 20_000, 0.95))
    assert tree.n_tables == 8  # contexts that tell the same share a table


@pytest.mark.parametrize("n_values", [1, 8, 60, 255])
def test_a_tree_comes_back(n_values: int) -> None:
    counts, components = counted(n_values, 60_000, 0.9)
    tree = chosen_tree(counts, components)
    assert 1 <= tree.n_tables <= MOST_TABLES
    data = stored_tree(tree)
    again, rest = read_tree(np.append(data, np.uint8(9)), components)
    assert rest.tolist() == [9]
    assert_equal(again, tree)
    for n in range(0, data.size, 1 + data.size // 50):
        with pytest.raises(CorruptChunk):
            read_tree(data[:n], components)


def assert_equal(left: Tree, right: Tree) -> None:
    for one, other in zip((*left.levels, left.tables), (*right.levels, right.tables), strict=True):
        assert (one == other).all()


def test_the_map_walks_the_tree() -> None:
    counts, components = counted(8, 20_000, 0.9)
    tree = chosen_tree(counts, components)
    before, part, pair, change = 3, 5, 4, 7
    node = 0
    for level, value in zip(tree.levels, (before, part, pair, change), strict=True):
        node = level[node, value]
    place = ((part * components.befores + before) * components.pairs + pair) * 8 + change
    assert table_map(tree, components)[place] == tree.tables[node]


@pytest.mark.parametrize("cells", [1 << 22, 24])
def test_counts_are_of_every_so_many_windows(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    """In rows that are too few, too."""
    lines, components = find_lines(np.frombuffer(b"ABBABA\n" * 715, np.uint8), 64), components_of(2)
    values = values_of(np.frombuffer(b"AB", np.uint8))
    monkeypatch.setattr(count, "MOST_CELLS", cells)
    assert count.count_contexts(lines, values, components).is_whole == (cells > 24)
    monkeypatch.setattr(count, "SAMPLE", 1300)
    counts = count.count_contexts(lines, values, components)
    assert counts.weight == 4
    assert not counts.is_whole
    assert (counts.contexts < np.array(components.sizes)).all()
    assert len(np.unique(counts.contexts, axis=0)) == len(counts.contexts) > 2
    assert not counts.counts[:, 2:].any()
    if cells > 24:
        assert abs(4 * counts.counts.sum() - 6 * 715) < 200
        assert counts.counts[:, 0].sum() == counts.counts[:, 1].sum()


def test_counts_of_tables_are_those_of_their_contexts() -> None:
    counts, components = counted(8, 20_000, 0.9)
    tree = chosen_tree(counts, components, 5)
    assert tree.n_tables == 5
    place = counts.contexts.astype(int) @ np.array([components.pairs * 8, 0, 8, 1])
    place += counts.contexts[:, 1].astype(int) * components.befores * components.pairs * 8
    tables, expected = table_map(tree, components)[place], np.zeros((5, 8), np.int64)
    np.add.at(expected, tables, counts.counts)
    assert (counts_of_tables(counts, tree) == expected).all()


class Context(NamedTuple):
    """The context of a letter, from SPEC.md: its table of components, row by row."""

    before: int
    part: int
    pair: int
    change: int


def contexts_of(values: list[int], shift: int) -> list[Context]:
    out, change = [], 0
    for i in range(len(values)):
        q1, q2, q3 = ([0, 0, 0, *values[max(0, i - 3) : i]])[:-4:-1]
        change += abs(q1 - q2) if i > 1 else 0
        part = 8 * i // len(values) if len(values) < 1000 else 0
        pair = 2 * (max(q2, q3) >> shift) + (q2 == q3)
        out.append(Context(q1, part, pair, min(7, (1 + change).bit_length() - 1)))
    return out


@pytest.mark.parametrize("letters", [range(35, 75), range(2, 255, 3), [7, 11, 99, 100, 250]])
@pytest.mark.parametrize("step", [1, 6])
def test_contexts_of_a_line_are_those_of_its_letters(letters: Sequence[int], step: int) -> None:
    """Of lines of any length, some longer than a piece, from several places of one text."""
    known = np.array(letters, np.uint8)
    rng, lengths = np.random.default_rng(step), [1, 2, 3, 4, 15, 16, 17, 36, 999, 1000, 5000, 50]
    values = [rng.integers(0, known.size, -(-n // step)).repeat(step)[:n] for n in lengths]
    block = np.concatenate([np.append(known[own], np.uint8(10)) for own in values])
    lines, components = find_lines(block, 1 << 16), components_of(known.size)
    counts = count.count_contexts(lines, values_of(known), components)
    expected = Counter[tuple[Context, int]]()
    for own in values:
        expected.update(zip(contexts_of(own.tolist(), components.shift), own.tolist(), strict=True))
    found = {
        (Context(*context.tolist()), int(value)): int(row[value])
        for context, row in zip(counts.contexts, counts.counts, strict=True)
        for value in np.flatnonzero(row)
    }
    assert found == expected
