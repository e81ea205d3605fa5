"""What a scheduler makes of the events of clients."""

from __future__ import annotations

import pytest

from gangsaw.cluster.dashboard.charts import rates
from gangsaw.cluster.dashboard.html import chosen_job, jobs_table
from gangsaw.cluster.dashboard.jobs import MOST_ENDED, MOST_POINTS, TOPIC, Jobs, JobState
from gangsaw.cluster.dashboard.metrics import CHUNKS, FAILED, LEFT, METRICS, RUNNING
from gangsaw.cluster.dashboard.plugin import Dashboard
from gangsaw.tasks.engine.report.counters import MOST_CELLS, JobCounters, Message, count_job
from gangsaw.tasks.engine.report.progress import Meter


def heard(tally: JobCounters) -> Jobs:
    """What a scheduler knows that is told of this job from now on."""
    jobs = Jobs()

    def send(message: Message, _: bool) -> None:
        jobs.update({**message, "client": "me"})

    tally.send_with(send)
    return jobs


def test_each_chunk_counts_once_for_who_did_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangsaw.tasks.engine.report.counters.SEND_SECONDS", 0.0)
    with count_job("compress", "a.zarr") as tally:
        jobs = heard(tally)
        meter = Meter(10, None)
        meter.resume(4, 400, 100)
        for worker, backend, seconds in (("w1", "cpu", 1.0), ("w2", "gpu", 2.0)):
            tally.attribute_to_worker(worker, backend, seconds)
            tally.attribute_to_chunks("gangsaw.dna")
            meter.add(2, 200, 60)
            meter.add(1, 100, 30)
        (state,) = jobs.running
        assert (state.done, state.total, state.resumed, state.left) == (10, 10, 4, 0)
        assert (state.decoded, state.encoded, state.run_bytes) == (1000, 280, 600)
        parts = {key: vars(amount) for key, amount in state.parts.items()}
        each = {"chunks": 3, "decoded": 300, "encoded": 90, "failed": 0}
        assert parts == {
            ("gangsaw.dna", "cpu", "w1"): {**each, "seconds": 1.0},
            ("gangsaw.dna", "gpu", "w2"): {**each, "seconds": 2.0},
        }
    assert [s.outcome for s in jobs.jobs.values()] == ["done"]
    assert dict(jobs.series(CHUNKS) and [(tuple(k), v) for k, v in jobs.series(CHUNKS)]) == {
        ("gangsaw.dna", "cpu", "compress"): 3,
        ("gangsaw.dna", "gpu", "compress"): 3,
    }


def test_a_step_before_the_chunks_counts_none() -> None:
    with count_job("compress", "a.zarr") as tally:
        jobs = heard(tally)
        Meter(5, None, step="sort").add(5, 50, 0)
    (state,) = jobs.jobs.values()
    assert (state.step, state.done, jobs.series(CHUNKS)) == ("sort", 5, [])


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(ValueError("no <room>"), "failed"), (KeyboardInterrupt(), "interrupted")],
)
def test_a_job_that_does_not_end_well(error: BaseException, outcome: str) -> None:
    known: list[Jobs] = []

    def run() -> None:
        with count_job("verify", "a.zarr") as tally:
            known.append(heard(tally))
            tally.record_failures(["chunk 1: damaged"])
            raise error

    with pytest.raises(type(error)):
        run()
    (jobs,) = known
    (state,) = jobs.jobs.values()
    assert (state.outcome, state.failed, jobs.running) == (outcome, 1, [])
    assert [v for _, v in jobs.series(FAILED)] == [1]
    assert list(state.failures) == ["chunk 1: damaged", *filter(None, [str(error)])]
    assert "no <room>" not in chosen_job(state)  # it is escaped


def test_a_job_within_a_job_is_part_of_it() -> None:
    with count_job("compress", "a.zarr") as outer, count_job("sort", "b") as inner:
        assert inner is outer


@pytest.mark.parametrize("total", [1, 7, MOST_CELLS, MOST_CELLS + 1, 1_234_567])
def test_the_map_holds_every_chunk(total: int) -> None:
    left = [range(total // 3, total // 2), range(total // 2, total)]
    tally = JobCounters("compress", "a.zarr")
    jobs = heard(tally)
    tally.expect_chunks(total, left)
    tally.attribute_to_chunks("", left[-1])
    tally.record_failures(["one"])
    tally.end("done")
    (state,) = jobs.jobs.values()
    assert sum(state.room) == total
    assert max(state.room) - min(state.room) <= 1
    assert sum(state.cells) == total - len(left[0])
    assert all(0 <= done <= room for done, room in zip(state.cells, state.room, strict=True))
    assert max(state.bad) == len(state.room) - 1


def test_a_client_that_goes_away_loses_its_jobs() -> None:
    jobs = Jobs()
    for name, client in (("a", "x"), ("b", "y")):
        jobs.update({"job": name, "client": client, "done": 1, "total": 3})
    jobs.update({"job": "c", "client": "x", "outcome": "done"})
    assert jobs.series(LEFT) == [([], 4)]
    jobs.mark_lost("x")
    assert [s.outcome for s in jobs.jobs.values()] == ["lost", "running", "done"]
    assert (jobs.series(LEFT), jobs.series(RUNNING)) == ([([], 2)], [([], 1)])


def test_ended_jobs_are_forgotten_and_their_sums_are_not() -> None:
    jobs = Jobs()
    for i in range(2 * MOST_ENDED):
        part = ["c", "cpu", "w", 1, 2, 1, 0.5, 0]
        jobs.update({"job": str(i), "kind": "verify", "parts": [part], "outcome": "done"})
    assert len(jobs.jobs) <= MOST_ENDED + 1
    assert jobs.series(CHUNKS) == [(["c", "cpu", "verify"], 2 * MOST_ENDED)]
    assert {metric.name for metric in METRICS if jobs.series(metric)} == {m.name for m in METRICS}


@pytest.mark.parametrize(
    "event", [None, 3, {}, {"job": "a", "done": "x"}, {"job": "a", "parts": [["c", "cpu"]]}]
)
def test_events_of_others_harm_nothing(event: object) -> None:
    plugin = Dashboard()
    plugin.log_event(TOPIC, event)  # type: ignore[arg-type]
    plugin.log_event("another", {"job": "b"})
    plugin.log_event(TOPIC, {"job": "good", "total": 1})
    assert "good" in plugin.jobs.jobs
    assert "b" not in plugin.jobs.jobs


def test_curves_are_bounded() -> None:
    state = JobState("a")
    for i in range(3 * MOST_POINTS):
        list(state.update({"done": i, "run_bytes": 1000 * i}))
    assert len(state.points) <= MOST_POINTS
    assert state.points[-1][1] == 1000 * (3 * MOST_POINTS - 1)
    assert rates([(0.0, 0, 0), (0.5, 10, 1), (1.0, 30, 2), (3.0, 30, 2)]) == [
        (0.0, 30.0),
        (1.0, 30.0),
        (3.0, 0.0),
    ]


def test_names_of_users_are_no_markup() -> None:
    state = JobState("a", kind="compress", store="<script>", total=3, done=1)
    text = jobs_table([state], state, "tcp://here") + chosen_job(state)
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "33 %" in text
