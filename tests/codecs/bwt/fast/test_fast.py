"""What effort fast alone has: tables, and symbols."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from helpers.bwt_strings import callable_kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import bwt_fast as reference

from gangsaw.codecs.bwt.fast import merge, symbols
from gangsaw.codecs.bwt.fast.tables import decode_tables, encode_tables, tables_of

Octets = npt.NDArray[np.uint8]
symbol_of, least_of, bits_below = map(
    callable_kernel, (symbols.number_to_symbol, symbols.get_least_number, symbols.bits_below)
)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4095), st.integers(1, 1 << 20)), min_size=1), st.booleans()
)
def test_tables_come_back(found: list[tuple[int, int]], both: bool) -> None:
    counts = np.zeros((2, symbols.TOKENS), np.int64)
    for token, n in found:
        for kind in range(1 + both):
            if token % symbols.WIDTH < symbols.N_SYMBOLS[kind]:
                counts[kind, token] += n
    counts[counts.sum(axis=1) == 0, 0] = 1
    tables = tables_of(counts)
    data = encode_tables(tables)
    again, end = decode_tables(data)
    assert end == data.size
    assert (again.table_of == tables.table_of).all()
    assert (again.weights == tables.weights).all()
    for kind in range(2):  # every token that occurs has a weight
        rows = tables.weights[kind][tables.table_of[kind]]
        assert (rows.ravel()[counts[kind] > 0] > 0).all()


def test_many_different_contexts_share_the_most_tables() -> None:
    counts = np.zeros((symbols.CONTEXTS, 48), np.int64)
    counts[np.arange(48), np.arange(48)] = 1 << 20
    table_of = merge.merge_contexts(counts)
    assert table_of.max() == merge.MOST_TABLES - 1
    assert merge.merge_contexts(np.ones((symbols.CONTEXTS, 3), np.int64)).max() == 0


def test_symbols_are_those_of_the_reference() -> None:
    for v in [*range(300), 1 << 16, (1 << 22) - 1, 1 << 22, (1 << 23) - 1]:
        symbol, bits = reference.symbol_of(v)
        assert symbol_of(v) == symbol
        if symbol >= symbols.EXACT:
            assert (least_of(symbol), bits_below(symbol)) == (
                reference.LEAST[symbol][0],
                bits,
            )
