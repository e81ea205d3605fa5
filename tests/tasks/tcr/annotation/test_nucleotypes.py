"""What errors made goes to what it was made of, and nothing else does."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.annotation.batch import Key, Seen
from gangsaw.tasks.tcr.annotation.nucleotypes import AnnotationTally, MergeRule, Nucleotype, merged

JUNCTION = bytes(np.random.default_rng(0).integers(0, 4, 42).astype(np.uint8))


def key(changes: dict[int, int] | None = None, v: tuple[int, ...] = (0,)) -> Key:
    own = bytearray(JUNCTION)
    for place, by in (changes or {}).items():
        own[place] = (own[place] + by) % 4
    return Key(v, (9,), bytes(own))


def seen(reads: int, doubtful: tuple[int, ...] = ()) -> Seen:
    qualities = np.full(len(JUNCTION), 40, np.uint8)
    qualities[list(doubtful)] = 10
    return Seen(reads, qualities)


def rows(keys: dict[Key, Seen], **rule: float) -> list[tuple[int, int]]:
    return [(one.reads, one.merged) for one in merged(keys, MergeRule(**rule))]  # type: ignore[arg-type]


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


def test_other_lengths_are_no_errors() -> None:
    short = Key((0,), (9,), JUNCTION[:-3])
    assert rows({key(): seen(99), short: Seen(1, np.full(39, 10, np.uint8))}) == [(99, 0), (1, 0)]


def naive(keys: dict[Key, Seen], rule: MergeRule) -> list[Nucleotype]:
    """Compare all with all."""
    found: list[Nucleotype] = []
    for own, one in sorted(keys.items(), key=lambda item: (-item[1].reads, item[0])):
        best = None
        for other in found:
            places = [i for i in range(len(JUNCTION)) if own[2][i] != other.key[2][i]]
            fits = bool({*own[0]} & {*other.key[0]}) and len(places) <= rule.max_errors
            doubtful = all(one.qualities[i] < 20 for i in places)
            fits = fits and (doubtful or other.reads >= rule.ratio * one.reads)
            if fits and (best is None or len(places) < best[0]):
                best = len(places), other
        if best is None:
            found.append(Nucleotype(own, one.reads, one.qualities))
        else:
            best[1].reads += one.reads
            best[1].merged += one.reads if best[0] else 0
    return sorted(found, key=lambda one: (-one.reads, one.key))


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
    wanted, found = naive(keys, rule), merged(keys, rule)
    assert [(x.key, x.reads, x.merged) for x in found] == [
        (x.key, x.reads, x.merged) for x in wanted
    ]
    assert sum(x.reads for x in found) == sum(x.reads for x in keys.values())


def test_batches_add_up_in_any_order() -> None:
    batches = [{key(): seen(2, (5,)), key({5: 1}): seen(1)}, {key(): seen(3, (6,))}]
    sums = []
    for order in (batches, batches[::-1]):
        tally = AnnotationTally()
        for batch in order:
            own = {k: Seen(s.reads, s.qualities.copy()) for k, s in batch.items()}
            tally.add(5, Counter({"no V": 1}), own)
        sums.append({k: (s.reads, s.qualities.tolist()) for k, s in tally.keys.items()})
        assert (tally.reads, tally.culled) == (10, {"no V": 2})
    assert sums[0] == sums[1]
    assert sums[0][key()] == (5, [40] * 42)


@pytest.mark.parametrize("rule", [{"max_errors": 9}, {"ratio": 0.5}, {"min_quality": -1}])
def test_wrong_rules(rule: dict[str, float]) -> None:
    with pytest.raises(BadParams, match="must be"):
        MergeRule(**rule)  # type: ignore[arg-type]
