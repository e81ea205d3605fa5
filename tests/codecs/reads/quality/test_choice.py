"""The tree of contexts: its costs, its choice, its bytes."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads.lines import lines_of
from gangsaw.codecs.reads.quality import count
from gangsaw.codecs.reads.quality.choose import chosen_tree
from gangsaw.codecs.reads.quality.contexts import Components, components_of
from gangsaw.codecs.reads.quality.costs import BIT, INDEX_BITS, information, logarithms
from gangsaw.codecs.reads.quality.count import Counts
from gangsaw.codecs.reads.quality.tree import (
    MOST_TABLES,
    Tree,
    read_tree,
    stored_tree,
    table_map,
)


def test_logarithms_are_right_to_their_last_bit() -> None:
    n = 1 << INDEX_BITS
    expected = [log2(1 + i / n) * BIT for i in range(n + 1)]
    assert np.abs(logarithms() - expected).max() < 1.01


def test_information_is_n_log_n() -> None:
    for n in (0, 1, 2, 3, 100, 12_345, 1 << 25, (1 << 28) - 1):
        expected = n * log2(n) if n else 0
        assert abs(information(n, logarithms()) / BIT - expected) <= 1e-6 * expected


def counted(n_values: int, n: int, strength: float) -> tuple[Counts, Components]:
    """Values that mostly are the first component, or counted from the other end for odd pairs."""
    rng, components = np.random.default_rng(n), components_of(n_values)
    contexts = np.stack([rng.integers(0, size, n) for size in components.sizes], 1)
    noise = rng.integers(0, n_values, n)
    told = np.where(contexts[:, 2] % 2, n_values - 1 - contexts[:, 0], contexts[:, 0])
    values = np.where(rng.random(n) < strength, told, noise)
    return Counts(
        contexts.astype(np.uint8), values.astype(np.uint8), np.ones(n, np.int64), 1
    ), components


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


@pytest.mark.parametrize("slots_bits", [(18, 20), (2, 18)])
def test_counts_are_of_every_so_many_windows(
    monkeypatch: pytest.MonkeyPatch, slots_bits: tuple[int, int]
) -> None:
    """In a table that becomes too small, too."""
    block = np.frombuffer(b"ABBABA\n" * 715, np.uint8)
    lines, components = lines_of(block, 64), components_of(2)
    values = (np.arange(256) == ord("B")).astype(np.uint8)
    monkeypatch.setattr(count, "SAMPLE", 1300)
    monkeypatch.setattr(count, "SLOTS_BITS", slots_bits)
    counts = count.count_contexts(lines, values, components)
    assert counts.weight == 4
    assert abs(counts.counts.sum() - 6 * 715) < 200
    assert (counts.contexts < np.array(components.sizes)).all()
    assert counts.counts[counts.values == 1].sum() == counts.counts.sum() / 2
    pairs = np.column_stack((counts.contexts, counts.values))
    assert len(np.unique(pairs, axis=0)) == len(pairs) > 3
