"""The recorder: totals that add up, whoever reports."""

from __future__ import annotations

import logging
import pickle
import threading
from collections.abc import Iterator

import pytest

from gangsaw.codecs.core import record
from gangsaw.codecs.core.record import Event, Totals


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    record.reset()
    yield
    record.reset()


KEY: record.Key = ("gangsaw.x", "encode", "cpu")
EVENT = Event(*KEY, 100, 10, 0.5)


def report() -> None:
    """Record EVENT."""
    record.record(KEY, EVENT.raw_bytes, EVENT.encoded_bytes, EVENT.seconds)


def test_totals_are_kept_per_codec_operation_and_backend() -> None:
    report()
    report()
    record.record(("gangsaw.x", "decode", "cpu"), 1, 2, 3.0)
    assert record.snapshot() == {
        ("gangsaw.x", "encode", "cpu"): Totals(2, 200, 20, 1.0),
        ("gangsaw.x", "decode", "cpu"): Totals(1, 1, 2, 3.0),
    }


def test_threads_lose_nothing() -> None:
    def report_often() -> None:
        for _ in range(500):
            report()

    crowd = [threading.Thread(target=report_often) for _ in range(8)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert record.snapshot()["gangsaw.x", "encode", "cpu"].count == 4000


def test_a_snapshot_is_a_copy_that_travels() -> None:
    report()
    before = record.snapshot()
    report()
    assert before == pickle.loads(pickle.dumps(before))
    assert before["gangsaw.x", "encode", "cpu"].count == 1


def test_listeners_come_go_and_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Event] = []
    leave = record.subscribe(heard.append)
    leave_too = record.subscribe(lambda event: 1 / 0)
    with caplog.at_level(logging.ERROR):
        report()
    assert "listener" in caplog.text
    leave()
    leave()
    leave_too()
    report()
    assert heard == [EVENT]
