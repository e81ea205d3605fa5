"""Which tasks are late, and how long tasks last."""

from __future__ import annotations

from gangsaw.tasks.engine.flying.late import Turnaround
from gangsaw.tasks.engine.pace import TASK_SECONDS, Pace


def test_the_late() -> None:
    turnaround = Turnaround()
    assert not turnaround.is_late(1e9, 1)  # the first one may compile for long
    turnaround.saw(10.0)
    assert [turnaround.is_late(s, 1) for s in (49.0, 51.0)] == [False, True]
    assert [turnaround.is_late(s, 2) for s in (99.0, 101.0)] == [False, True]
    for _ in range(1000):
        turnaround.saw(0.1)  # small arrays after a large one
    assert [turnaround.is_late(s, 1) for s in (19.0, 21.0)] == [False, True]


def test_tasks_last_longer_where_many_threads_want_them() -> None:
    pace = Pace(0.01)
    assert pace.task_seconds(2) == TASK_SECONDS
    assert pace.batches(None, 2) == 25
    assert pace.batches(None, 600) == 200
