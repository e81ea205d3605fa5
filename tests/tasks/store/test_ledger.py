"""What is done of an array, in parts: with parts of a few chunks, where jobs have a million."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from zarr.storage import MemoryStore

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.state import ledger as ledger_module
from gangsaw.tasks.store.state import manifest_shards
from gangsaw.tasks.store.state.journal import Journal
from gangsaw.tasks.store.state.lease import LeaseLost
from gangsaw.tasks.store.state.ledger import EntryWriter, Ledger
from gangsaw.tasks.store.state.manifest import MANIFEST, fold_parts, open_manifest, read_manifest
from gangsaw.tasks.store.state.manifest_shards import PARTS, part_key
from gangsaw.tasks.store.state.records import ROW, Records

N, STEP = 37, 3


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest_shards, "PART_ROWS", 10)


@pytest.fixture(params=["local", "memory"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Journal:
    place = open_prefix(tmp_path / "a.zarr" if request.param == "local" else MemoryStore())
    place = Prefix(place.store.with_read_only(False), "data")
    return Journal(place, "job", STEP)


def records(first: int, n: int = STEP) -> Records:
    rows = np.array([(100 + i, 7 * i) for i in range(first, min(first + n, N))], ROW)
    return Records("job", first, 10 * len(rows), rows)


def batches() -> list[Records]:
    return [records(first) for first in range(0, N, STEP)]


def filled(journal: Journal, some: list[Records]) -> Ledger:
    ledger = Ledger(journal, N)
    ledger.find_written()
    for one in some:
        ledger.add(one)
    return ledger


def test_parts_are_written_when_they_are_complete(journal: Journal) -> None:
    order = batches()
    random.Random(3).shuffle(order)
    ledger = filled(journal, order)
    assert ledger.gaps == ()
    assert sorted(ledger.written) == [0, 1, 2, 3]
    assert not ledger.filling  # nothing is held any more
    assert read_manifest(journal.array) is None
    ledger.finish()
    found, whole = open_manifest(journal.array), fold_parts("job", batches())
    assert found is not None
    assert (found.n_chunks, found.raw_bytes) == (N, whole.raw_bytes) == (37, 370)
    assert found.stored_bytes == whole.stored_bytes == ledger.stored_bytes
    assert [len(part.rows) for part in found.parts()] == [10, 10, 10, 7]
    assert (found.cut(range(12, 15)).rows == whole.rows[12:15]).all()
    again = read_manifest(journal.array)
    assert again is not None
    assert again.pack() == whole.pack()


def test_the_journal_of_a_written_part_goes(journal: Journal) -> None:
    for one in batches()[:5]:
        journal.write(one)
    filled(journal, batches()[:4])  # chunks 0 to 11
    assert [one.first for one in journal.entries()] == [12]  # 9 began in the first part


def test_a_later_run_knows_parts_and_journal(journal: Journal) -> None:
    journal.write(*batches()[8:10])
    ledger = filled(journal, batches()[:8])  # chunks 0 to 23
    assert ledger.gaps == (range(24, 30), range(30, 37))
    later = Ledger(journal, N)
    later.find_written()
    assert (sorted(later.written), later.n_done, later.raw_bytes) == ([0, 1], 20, 200)
    for one in journal.entries(later.written):
        later.add(one)
    assert later.gaps == (range(20, 24), range(30, 37))


def test_what_comes_twice_counts_once(journal: Journal) -> None:
    ledger = filled(journal, [records(3), records(3), records(0), records(1)])
    assert (ledger.n_done, ledger.raw_bytes) == (6, 60)
    with pytest.raises(ValueError, match="gap"):
        ledger.finish()


def test_a_batch_of_an_earlier_version_may_lie_in_two_parts(journal: Journal) -> None:
    ledger = filled(journal, [records(0, 16), records(16, 21)])
    assert (ledger.gaps, ledger.raw_bytes, sorted(ledger.written)) == ((), 370, [0, 1, 2, 3])


@pytest.mark.parametrize("key", [MANIFEST, part_key(2)])
def test_damage_is_told(journal: Journal, key: str) -> None:
    filled(journal, batches()).finish()
    stored = journal.array.get(key)
    assert stored is not None
    data = stored.to_bytes()
    for damaged in (data[:-1], data[:40] + bytes([data[40] ^ 1]) + data[41:], None):
        if damaged is None and key == MANIFEST:
            continue  # then the job is not finished
        journal.array.delete(key)
        if damaged is not None:
            journal.array.put(key, damaged)
        with pytest.raises(CorruptChunk, match="manifest is damaged"):
            read_manifest(journal.array)


def test_a_part_of_another_job_is_none(journal: Journal) -> None:
    filled(journal, batches())
    other = Ledger(Journal(journal.array, "other", STEP), N)
    other.find_written()
    assert other.n_done == 0


def test_nothing_stays_of_what_does_not_count(journal: Journal) -> None:
    journal.write(records(33))
    ledger = filled(journal, batches()[:7])
    assert (journal.array / PARTS).names()
    ledger.forget()
    assert not [key for key in journal.array.walk() if ".partial" not in key]


def test_an_entry_is_what_follows_in_a_part(journal: Journal) -> None:
    journal.write(records(3), records(6, 4), records(10), records(30))
    keys = sorted(key for key in journal.array.walk())
    assert [int(key.rpartition("/")[2]) for key in keys] == [3, 10, 30]
    assert [(one.first, one.raw_bytes) for one in journal.entries()] == [
        (3, 30),
        (6, 40),
        (10, 30),
        (30, 30),
    ]


def test_who_does_a_task_again_finds_its_batches(journal: Journal) -> None:
    journal.write(records(0), records(3), records(6))
    for batch in (range(3), range(3, 6), range(6, 9)):
        found = journal.read(batch)
        assert found is not None
        assert found.batch == batch
        assert found.from_journal
    assert journal.read(range(9, 12)) is None
    assert journal.read(range(3, 6)) is None  # of a task that begins with it


def test_a_copy_that_did_less_leaves_the_entry(journal: Journal) -> None:
    more, less = [records(0), records(3)], [records(0)]
    for first, second in ((more, less), (less, more)):
        journal.remove()
        journal.write(*first)
        journal.write(*second)
        assert [one.first for one in journal.entries()] == [0, 3]


def test_a_torn_entry_is_written_anew(journal: Journal) -> None:
    journal.write(records(0))
    (key,) = journal.array.walk()
    journal.array.put(key, b"torn")
    assert list(journal.entries()) == []
    journal.write(records(0))
    assert [one.first for one in journal.entries()] == [0]


def test_a_batch_leaves_its_entry(journal: Journal) -> None:
    journal.write(records(0), records(3), records(6))
    for first, left in ((0, [3, 6]), (3, [6]), (6, [])):
        journal.delete(range(first, first + STEP))
        assert [one.first for one in journal.entries()] == left


def test_entries_of_earlier_versions_count(journal: Journal) -> None:
    journal.array.put(".gangsaw/journal/00000002", records(6).pack())
    journal.array.put(".gangsaw/journal/00000003", records(6).pack())  # misplaced
    journal.write(records(3))
    assert [one.first for one in journal.entries()] == [6, 3]
    journal.delete(range(6, 9))
    assert [one.first for one in journal.entries()] == [3]


def keys_of(journal: Journal) -> list[int]:
    """First chunks of the entries."""
    return sorted(int(key.rpartition("/")[2]) for key in journal.array.walk() if "/journal/" in key)


def test_an_entry_has_what_many_results_brought(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "ENTRY_SECONDS", math.inf)
    monkeypatch.setattr(ledger_module, "ENTRY_CHUNKS", 12)
    monkeypatch.setattr(manifest_shards, "PART_ROWS", 1000)
    entries = EntryWriter([Ledger(journal, N)])
    for one in (records(6), records(0), records(3)):
        entries.add(0, one)
    assert keys_of(journal) == []
    entries.add(0, records(12))  # with 12 chunks that wait
    assert keys_of(journal) == [0, 12]
    entries.add(0, records(9))
    assert [one.first for one in journal.entries()] == [0, 3, 6, 12]
    monkeypatch.setattr(ledger_module, "ENTRY_SECONDS", 0.0)
    entries.add(0, records(15))
    assert sorted(one.first for one in journal.entries()) == [0, 3, 6, 9, 12, 15]


@pytest.mark.parametrize(
    ("error", "known"), [(KeyboardInterrupt(), [0]), (OSError(), [0]), (LeaseLost("lost"), [])]
)
def test_what_waits_is_journalled_where_a_job_fails(
    journal: Journal, error: BaseException, known: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "ENTRY_SECONDS", math.inf)
    entries = EntryWriter([Ledger(journal, N)])
    entries.add(0, records(0))
    with pytest.raises(type(error)), entries.write_on_failure():
        raise error
    assert [one.first for one in journal.entries()] == known


def test_what_is_written_or_finished_needs_no_entry(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "ENTRY_SECONDS", math.inf)
    ledger = filled(journal, batches()[:4])  # chunks 0 to 11: the part of 0 to 9 is written
    entries = EntryWriter([ledger])
    for one in batches()[:4]:
        entries.add(0, one)
    entries.write()
    assert keys_of(journal) == []  # that of 9 would begin in a part that is written
    entries.add(0, records(12))
    entries.forget(0)
    entries.write()
    assert keys_of(journal) == []
