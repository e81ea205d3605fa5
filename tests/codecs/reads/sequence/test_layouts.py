"""Every layout decodes, and the slow reference reads and writes the same bytes."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.backends import fill_block
from helpers.read_layouts import Recipe, made, recipes
from hypothesis import given, settings
from reference.reads import recode_block

from gangsaw.codecs.reads.sequence.coding import SEQUENCE

TYPICAL = Recipe(1, 5000, 60, 100, 1, 0.01, 0, 0.02, False, False, False, 256)


@given(recipes)
@settings(max_examples=60)
def test_any_layout_decodes(recipe: Recipe) -> None:
    case = made(recipe)
    data, bits = case.payload()
    out = np.full_like(case.block, 7)
    fill_block(SEQUENCE, data, bits, out, case.params)
    np.testing.assert_array_equal(out, case.block)


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"pairs": True},
        {"order": True},
        {"order": True, "pairs": True},
        {"most_pieces": 4, "longest": 300},
        {"most_pieces": 300, "longest": 4, "n_lines": 8},
        {"size": 17000},
        {"size": 17000, "order": True},
        {"wrong": 0.3, "other": 0.1, "is_open": True},
        {"size": 300, "strains": 0.5},
        {"size": 1, "longest": 1},
        {"longest": 1500, "n_lines": 6, "lane": 64, "wrong": 0.001},
    ],
    ids=str,
)
def test_the_reference_agrees(change: dict[str, int]) -> None:
    case = made(TYPICAL._replace(**change))
    data, _ = case.payload()
    text, again = recode_block(
        data.tobytes(), case.params.to_dict(), case.block.shape, np.dtype("u1")
    )
    np.testing.assert_array_equal(text, case.block)
    assert again == data.tobytes()
