"""What errors made goes to what it was made of, and nothing else does."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.tcr.annotation.keys import KeyTable, grouped, stacked
from gangsaw.tasks.tcr.annotation.nucleotypes import (
    MergeRule,
    Nucleotype,
    _NearJunctions,
    merge_errors,
    nucleotypes_of,
)

JUNCTION = bytes(np.random.default_rng(0).integers(0, 4, 42).astype(np.uint8))
GOOD, BAD = 40, 10
TIES = 4
Key = tuple[tuple[int, ...], bytes]
Seen = tuple[int, tuple[int, ...]]  # reads, places of doubtful letters


def key(changes: dict[int, int] | None = None, v: tuple[int, ...] = (0,)) -> Key:
    own = bytearray(JUNCTION)
    for place, by in (changes or {}).items():
        own[place] = (own[place] + by) % 4
    return v, bytes(own)


def seen(reads: int, doubtful: tuple[int, ...] = ()) -> Seen:
    return reads, doubtful


def table(keys: dict[Key, Seen]) -> KeyTable:
    n = len(keys)
    genes = np.full((n, 2 * TIES), -1, np.int16)
    best = np.full((n, len(JUNCTION)), GOOD, np.uint8)
    for row, ((v, _), (_, doubtful)) in enumerate(keys.items()):
        genes[row, : len(v)], genes[row, TIES] = v, 9
        best[row, list(doubtful)] = BAD
    reads = np.array([reads for reads, _ in keys.values()])
    letters = np.frombuffer(b"".join(junction for _, junction in keys), np.uint8).reshape(n, -1)
    texts = Ragged(letters.ravel(), np.arange(n + 1) * len(JUNCTION))
    sums = best * reads[:, None]
    return KeyTable(genes, letters, reads, best, sums, best.sum(axis=1), reads * 0, texts)


def found(keys: dict[Key, Seen], rule: MergeRule) -> list[Nucleotype]:
    return merge_errors(nucleotypes_of(grouped(table(keys))), rule)


def rows(keys: dict[Key, Seen], **rule: float) -> list[tuple[int, int]]:
    return [(one.reads, one.merged) for one in found(keys, MergeRule(**rule))]  # type: ignore[arg-type]


def test_doubtful_letters_are_errors() -> None:
    keys = {key(): seen(3), key({5: 1}): seen(3, (5,)), key({7: 1, 30: 2}): seen(1, (7, 30))}
    assert rows(keys) == [(7, 4)]
    assert rows(keys, max_errors=1) == [(6, 3), (1, 0)]
    assert rows(keys, max_errors=0) == [(3, 0), (3, 0), (1, 0)]


def test_sure_letters_need_a_ratio() -> None:
    keys = {key(): seen(20), key({5: 1}): seen(2), key({9: 1}): seen(3)}
    assert rows(keys) == [(22, 2), (3, 0)]
    assert rows(keys, ratio=5) == [(25, 5)]
    assert rows({key(): seen(20), key({5: 1, 9: 1}): seen(3, (5,))}) == [(20, 0), (3, 0)]


def test_genes_must_fit_both() -> None:
    assert rows({key(): seen(9), key({5: 1}, (1,)): seen(1, (5,))}) == [(9, 0), (1, 0)]
    assert rows({key(v=(0, 1)): seen(9), key({5: 1}, (1,)): seen(1, (5,))}) == [(10, 1)]
    assert rows({key(v=(0, 1)): seen(9), key(v=(1,)): seen(8)}) == [(17, 0)]


def test_a_letter_that_the_parent_doubts_is_no_other_nucleotype() -> None:
    """The child is sure of it: both have the child's letter then."""
    (one,) = found({key(): seen(1, (5,)), key({5: 1}): seen(1)}, MergeRule())
    assert (one.junction, one.reads) == (key({5: 1})[1], 2)
    assert one.qualities[5] == GOOD - BAD


def test_reads_with_other_errors_have_the_right_letters_together() -> None:
    """None of them is right."""
    keys = {key({at: 1}): seen(1, (at, at + 1)) for at in (5, 15, 25)}
    (one,) = found(keys, MergeRule())
    assert (one.junction, one.reads, one.merged) == (JUNCTION, 3, 2)
    assert one.qualities.min() == 2 * GOOD - BAD
    assert one.row().sequence == JUNCTION


def test_doubtful_letters_that_agree_are_sure() -> None:
    for reads, quality in ((1, 10), (2, 20), (3, 30)):
        (one,) = found({key(): seen(reads, (7,))}, MergeRule())
        assert one.qualities.min() == quality
    (one,) = found({key(): seen(2, (7,)), key({7: 1}): seen(1, (7,))}, MergeRule())
    assert one.qualities[7] == 10


def naive(keys: dict[Key, Seen], rule: MergeRule) -> list[tuple[int, int]]:
    """Compare all with all, once; return reads, and those of other junctions."""
    whole: list[tuple[Key, Seen, list[int]]] = []
    order = sorted(keys.items(), key=lambda item: (-item[1][0], _padded(item[0])))
    for (v, junction), (reads, doubtful) in order:
        best = None
        for number, ((other_v, other), (_, other_doubtful), _) in enumerate(whole):
            places = [i for i in range(len(JUNCTION)) if junction[i] != other[i]]
            fits = bool({*v} & {*other_v}) and len(places) <= rule.max_errors
            doubt = {*doubtful, *other_doubtful}
            sums = whole[number][2]
            fits = fits and (doubt.issuperset(places) or sums[0] >= rule.ratio * reads)
            if fits and (best is None or len(places) < best[0]):
                best = len(places), number
        if best is None:
            whole.append(((v, junction), (reads, doubtful), [reads, 0]))
        else:
            differ, number = best
            own, (n, doubt), sums = whole[number]
            sums[0] += reads
            sums[1] += reads if differ else 0
            unread = {at for at in doubt if junction[at] != own[1][at]}
            whole[number] = own, (n, tuple({*doubt} & ({*doubtful} | unread))), sums
    return sorted((tuple(sums) for _, _, sums in whole), reverse=True)  # type: ignore[type-var]


def _padded(own: Key) -> tuple[list[int], bytes]:
    return [*own[0], *[1 << 16] * (TIES - len(own[0]))], own[1]


def once(keys: dict[Key, Seen], rule: MergeRule) -> list[Nucleotype]:
    """Merge without what letters by consensus make alike."""
    near = _NearJunctions(rule)
    for one in nucleotypes_of(grouped(table(keys))):
        if (parent := near.parent(one)) is None:
            near.add(one)
        else:
            parent.take(one)
    return near.all


@pytest.mark.parametrize("errors", [0, 1, 2, 3])
def test_pieces_find_what_all_pairs_do(errors: int) -> None:
    rng = random.Random(errors)
    keys = {}
    for _ in range(150):
        changes = {rng.randrange(42): rng.randrange(1, 4) for _ in range(rng.randrange(4))}
        doubtful = tuple(p for p in changes if rng.random() < 0.8)
        v = tuple(sorted({rng.randrange(3), rng.randrange(3)}))
        keys[key(changes, v)] = seen(rng.randrange(1, 40), doubtful)
    rule = MergeRule(max_errors=errors)
    wanted, own = naive(keys, rule), once(keys, rule)
    assert sorted(((x.reads, x.merged) for x in own), reverse=True) == wanted
    assert sum(x.reads for x in found(keys, rule)) == sum(reads for reads, _ in keys.values())


def test_tables_add_up() -> None:
    parts = [{key(): seen(2, (5,)), key({5: 1}): seen(1)}, {key(): seen(3, (6,))}]
    whole = grouped(stacked([table(part) for part in parts]))
    assert sorted(whole.reads.tolist()) == [1, 5]
    (own,) = np.flatnonzero(whole.reads == 5)
    assert whole.best[own].tolist() == [GOOD] * 42
    sums = np.full(42, 5 * GOOD)
    sums[[5, 6]] = 2 * BAD + 3 * GOOD, 2 * GOOD + 3 * BAD
    assert whole.sums[own].tolist() == sums.tolist()
    again = KeyTable.of(whole.arrays())
    assert all(np.array_equal(a, b) for a, b in zip(again[:-1], whole[:-1], strict=True))


@pytest.mark.parametrize("rule", [{"max_errors": 9}, {"ratio": 0.5}, {"min_quality": -1}])
def test_wrong_rules(rule: dict[str, float]) -> None:
    with pytest.raises(BadParams, match="must be"):
        MergeRule(**rule)  # type: ignore[arg-type]
