"""Which tasks are late, and how long tasks last."""

from __future__ import annotations

from gangsaw.tasks.engine.distributed.stragglers import Turnaround, workers_for_copy
from gangsaw.tasks.engine.scheduling.batch_size import TASK_SECONDS, THREADS_PER_SECOND, Pace


def test_the_late() -> None:
    turnaround = Turnaround()
    assert [turnaround.is_straggler(s, 1) for s in (119.0, 121.0)] == [
        False,
        True,
    ]  # it may compile
    assert str(turnaround) == "which is the first one"
    turnaround.record(10.0)
    assert str(turnaround) == "where others took at most 10 s"
    assert [turnaround.is_straggler(s, 1) for s in (49.0, 51.0)] == [False, True]
    assert [turnaround.is_straggler(s, 2) for s in (99.0, 101.0)] == [False, True]
    for _ in range(1000):
        turnaround.record(0.1)  # small arrays after a large one
    assert [turnaround.is_straggler(s, 1) for s in (19.0, 21.0)] == [False, True]


def test_which_workers_get_a_late_task() -> None:
    workers, silent = ["a", "b", "c"], {"c": 50.0}
    assert workers_for_copy(workers, {"a"}, silent) == ["b"]
    assert workers_for_copy(workers, {"c"}, silent) == ["a", "b"]
    assert workers_for_copy(workers, {"a", "b"}, silent) == ["a", "b"]  # c holds results of theirs
    assert workers_for_copy(["a", "b"], {"a", "b"}, {}) == []  # they are busy
    assert workers_for_copy(["a"], {"a"}, {}) == []
    assert workers_for_copy([], set(), {}) == []


def test_tasks_last_longer_where_many_threads_want_them() -> None:
    pace = Pace(0.01)
    assert pace.task_seconds(2) == TASK_SECONDS
    assert pace.batches(None, 2) == 25
    assert pace.batches(None, 600) == 200


def test_a_scheduler_has_no_more_tasks_than_it_can_serve() -> None:
    for threads in (75, 600, 4000):
        for part in (0.3, 0.501, 0.51, 0.9, 1.0, 1.7):  # of the time that a task should last
            pace = Pace(part * Pace.task_seconds(threads))
            lasts = pace.batches(None, threads) * (pace.seconds or 0.0)
            assert threads / lasts <= THREADS_PER_SECOND
