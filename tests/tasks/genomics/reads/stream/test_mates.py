"""Mates whose names differ: told, or refused where nobody could tell any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.reads.files.kernels import find_unmatched_name

ALIKE = [
    (b"a", b"a"),
    (b"a/1", b"a/2"),
    (b"SRR1.7.1 length=3", b"SRR1.7.2 length=4"),
    (b"a_1", b"a_2"),
    (b"m:1#G_/1", b"m:1#A_/2"),
    (b"a 1:N:0", b"a 2:N:0"),
    (b"a 1x", b"a 1x"),
    (b"1", b"1"),
    (b"a\tx", b"a y"),
    (b"a", b"a 2"),
    (b"", b""),
]
UNLIKE = [
    (b"a/1", b"b/2"),
    (b"a/2", b"a/1"),
    (b"a/1", b"a/1x"),
    (b"r1", b"r2"),
    (b"a", b"ab"),
    (b"a.1", b"a.3"),
    (b"", b"a"),
    (b"a b", b"ab"),
    (b"a/1", b"a/1"),
    (b"a 1:N:0", b"a 1:N:0"),
]


def unlike(pairs: list[tuple[bytes, bytes]]) -> int:
    fields = []
    for one in zip(*pairs, strict=True):
        ends = np.cumsum([len(name) for name in one])
        begins = np.concatenate(([0], ends[:-1]))
        fields += [np.frombuffer(b"".join(one) + b"+", np.uint8), begins, ends]
    return int(find_unmatched_name(*fields))


def test_names_of_mates_are_alike() -> None:
    assert unlike(ALIKE) == len(ALIKE)
    for pair in UNLIKE:
        assert unlike([*ALIKE, pair, ALIKE[0]]) == len(ALIKE), pair


def reads(numbers: list[int], mate: int) -> str:
    return "".join(f"@r{i}/{mate}\nACGT\n+\nIIII\n" for i in numbers)


CASES = {
    "reversed": [reads([0, 1, 2, 3], 1), reads([3, 2, 1, 0], 2)],
    "one file twice": [reads([0, 1], 1)] * 2,
    "two missing of one": [reads([0], 1) + reads([1], 1) + reads([2], 1) + reads([2], 2)],
}


@pytest.mark.parametrize("texts", CASES.values(), ids=CASES)
@pytest.mark.parametrize(
    "own", [{"names": "number"}, {"names": "none"}, {"order": "bins"}, {"order": "sorted"}], ids=str
)
def test_what_are_no_mates_are_told_or_refused(
    tmp_path: Path, texts: list[str], own: dict[str, str]
) -> None:
    paths = [tmp_path / f"{i}.fq" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    given: dict[str, Any] = {} if len(paths) == 2 else {"interleaved": "yes"}
    store = tmp_path / "a.zarr"
    with pytest.raises(BadParams, match=r"records? 1.*do not look like mates.*--pairing trusted"):
        gangsaw.compress(paths, store, **given, **own)
    if own == {"names": "number"}:
        (note,) = gangsaw.compress(paths, store, overwrite=True, **given).notes
        assert "do not look like mates" in note
        gangsaw.compress(paths, store, overwrite=True, **given, **own, pairing="trusted")
        assert gangsaw.verify(store, against=paths).ok
