"""The memory promise of every codec: never too little, and not far above need.

What is measured, of a process of its own, is in `helpers/peak_memory.py`. Codecs are found through
the entry points.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from helpers.every_codec import codec_types, folder, over_codecs
from helpers.peak_memory import Measured, measured_by

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="peak memory is in /proc"
)


@pytest.mark.parametrize("codec_type", codec_types(), ids=folder)
def test_a_promise_is_kept_and_near_what_is_needed(codec_type: Any) -> None:
    """Of a sample of each kind; that promises are kept is tested of every codec elsewhere, too."""
    check(measured_by(folder(codec_type), 1 << 20, 2, all_samples=False))


@pytest.mark.full
@over_codecs
def test_promises_of_all_samples(codec_type: Any) -> None:
    check(measured_by(folder(codec_type), 1 << 20, 2, all_samples=True))


@pytest.mark.full
@over_codecs
def test_promises_of_tiny_chunks(codec_type: Any) -> None:
    """Of a sample of each kind: of so little, what is measured is mostly noise."""
    check(measured_by(folder(codec_type), 1, 1, all_samples=False))


@pytest.mark.full
@over_codecs
def test_promises_of_large_chunks(codec_type: Any) -> None:
    """They are kept; that they are near is seen of smaller ones, in less time."""
    for one in measured_by(folder(codec_type), 1 << 23, 4, all_samples=False, again=0):
        assert one.is_kept(), one


def check(found: list[Measured]) -> None:
    kinds: dict[str, list[Measured]] = defaultdict(list)
    for one in found:
        assert one.is_kept(), one
        kinds[one.kind].append(one)
    assert kinds
    for kind, own in kinds.items():  # what a kind promises, the worst of its samples needs
        assert any(one.is_near() for one in own), (kind, own)
