"""Pieces behind a cut begin where those of many lines do; whatever is moved is a layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE, reverse_complement_codes
from gangsaw.codecs.reads.codec import Reads
from gangsaw.codecs.reads.lines import find_lines
from gangsaw.codecs.reads.sequence.bases import to_base_codes
from gangsaw.codecs.reads.sequence.layout import joints
from gangsaw.codecs.reads.sequence.layout.layout import layout
from gangsaw.codecs.reads.sequence.layout.placed import Layout, find_anchors

Codes = npt.NDArray[np.uint8]


def with_adapter(seed: int, n: int, errors: float, is_turned: bool = False) -> Codes:
    """Lines of 51 letters as text: inserts of 18 to 30 of few kinds, an adapter, errors."""
    rng = np.random.default_rng(seed)
    sources, adapter = rng.integers(0, 4, (12, 40), np.uint8), rng.integers(0, 4, 40, np.uint8)
    lines = []
    for kind, length in zip(rng.integers(0, 12, n), rng.integers(18, 31, n), strict=True):
        codes = np.concatenate((sources[kind][:length], adapter))[:51]
        wrong = rng.random(51) < errors
        codes = np.where(wrong, codes + rng.integers(1, 4, 51, np.uint8) & 3, codes)
        lines.append(
            LETTER_OF_CODE[reverse_complement_codes(codes) if is_turned else codes].tobytes()
        )
    return np.frombuffer(b"".join(line + b"\n" for line in lines), np.uint8)


def laid_out(text: Codes) -> tuple[Layout, Any, Codes]:
    lines = find_lines(text, 1 << 12)
    codes = to_base_codes(text)[: text.size]
    return layout(lines, codes), lines, codes


def check(found: Layout, lines: Any) -> None:
    """Pieces are all of their lines, and lie in the consensus where they are mapped."""
    length = found.end - found.begin
    assert (length > 0).all()
    firsts = np.append(True, found.line[1:] != found.line[:-1])
    np.testing.assert_array_equal(found.begin[firsts], 0)
    np.testing.assert_array_equal(found.begin[~firsts], found.end[:-1][~firsts[1:]])
    lasts = np.append(firsts[1:], True)
    np.testing.assert_array_equal(found.end[lasts], (lines.ends - lines.starts)[found.line[lasts]])
    places = found.position[found.is_mapped]
    assert (places >= 0).all()
    assert (places + length[found.is_mapped] <= found.consensus.size).all()


def test_most_adapters_begin_at_one_column() -> None:
    found, lines, _ = laid_out(with_adapter(1, 3000, 0.004))
    check(found, lines)
    later = found.is_mapped & (found.begin > 0)
    _, counts = np.unique(find_anchors(found)[later], return_counts=True)
    assert counts.max() > 0.9 * later.sum()


@given(st.integers(0, 99), st.sampled_from([0.0, 0.02, 0.15]), st.booleans())
@settings(max_examples=20, deadline=None)
def test_whatever_is_moved_is_a_layout(seed: int, errors: float, is_turned: bool) -> None:
    text = with_adapter(seed, 400, errors, is_turned)
    found, lines, codes = laid_out(text)
    check(found, lines)
    usual = joints.usual_anchors(found, lines.starts.size)
    joints.join_usually(found, lines.starts, codes, np.append(usual, np.arange(12)))
    check(found, lines)
    codec, out = Reads(kind="sequence"), np.empty_like(text)
    codec.decode_chunk(codec.encode_chunk(text), out)
    np.testing.assert_array_equal(out, text)


def test_few_joints_change_nothing() -> None:
    found, lines, codes = laid_out(with_adapter(2, 50, 0.01))
    assert joints.with_usual_joints(found, lines, codes) is found
