"""One job over many arrays: whose batches go together, what the job needs, who is notified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import zarr

from gangsaw import codecs
from gangsaw.codecs.core.zarr.block_codec import LAUNCH_BYTES
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.jobs.chunks.device import COPIES, launch_batches, share_of_device
from gangsaw.tasks.jobs.runs.arrays import ArrayBatch, ArraysTask, ArrayWork, run_arrays
from gangsaw.tasks.store.arrays.chunks import METADATA, ArrayCoder


@dataclass(frozen=True)
class Doubled:
    """Doubles numbers; notes what it is given together."""

    name: str
    calls: list[tuple[str, list[int]]] = field(default_factory=list)

    def address(self, batch: int) -> str:
        return f"{self.name}/{batch}"

    def __call__(self, batch: int) -> int:
        return 2 * batch

    def on_device(self, batches: Sequence[int]) -> list[int]:
        self.calls.append(("device", list(batches)))
        return [2 * batch for batch in batches]

    def commit(self, results: Sequence[int]) -> None:
        self.calls.append(("commit", list(results)))


def items(a: Doubled, b: Doubled) -> list[ArrayBatch[int, int]]:
    return [ArrayBatch(0, a, 1), ArrayBatch(0, a, 2), ArrayBatch(1, b, 1)]


def test_batches_of_an_array_go_together() -> None:
    a, b = Doubled("a"), Doubled("b")
    task: ArraysTask[int, int] = ArraysTask("double", 1, 3, 1, True)
    results = task.on_device(items(a, b))
    task.commit(items(a, b), results)
    assert results == [2, 4, 2]
    assert a.calls == [("device", [1, 2]), ("commit", [2, 4])]
    assert b.calls == [("device", [1]), ("commit", [2])]


def test_equal_functions_are_not_taken_for_one_array() -> None:
    """Two arrays may be described by the same words."""
    one = Doubled("a")
    task: ArraysTask[int, int] = ArraysTask("double", 1, 2, 1, True)
    task.on_device([ArrayBatch(0, one, 1), ArrayBatch(1, one, 2)])
    assert one.calls == [("device", [1]), ("device", [2])]


def test_messages_name_the_batch_of_its_array() -> None:
    assert str(ArrayBatch(1, Doubled("b"), 7)) == "b/7"


def test_each_result_comes_with_the_number_of_its_array() -> None:
    works = [ArrayWork(Doubled("a"), [1, 2], 8, 9), ArrayWork(Doubled("b"), [5], 8, 9)]
    found: list[tuple[int, int]] = []
    run_arrays("double", works, lambda array, result: found.append((array, result)))
    assert found == [(0, 2), (0, 4), (1, 10)]


def test_a_job_without_arrays_is_done() -> None:
    run_arrays("double", [], lambda *_: pytest.fail("there is nothing to do"), options=Options())


def test_a_job_needs_what_its_largest_array_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks: list[ArraysTask[int, int]] = []
    monkeypatch.setattr(
        "gangsaw.tasks.jobs.runs.arrays.run_batches", lambda task, *_, **__: tasks.append(task)
    )
    many = list(range(100))
    works = [ArrayWork(Doubled("a"), many, 10, 70), ArrayWork(Doubled("b"), many, 30, 50)]
    run_arrays("double", works, lambda *_: None, waits=True)
    batches = share_of_device(200, 30).batches
    assert batches > 2
    assert tasks == [
        ArraysTask("double", 70, batches, 70 + COPIES * batches * 30, True, side_by_side=True)
    ]
    few = [*works, ArrayWork(Doubled("c"), many, 10, 10, launch_batches=2)]
    run_arrays("double", few, lambda *_: None)
    assert tasks[-1].device_batches == 2


def test_a_codec_answers_how_many_chunks_fill_a_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def coder(**options: object) -> ArrayCoder:
        zarr.create_array(
            tmp_path, shape=(64, 64), chunks=(8, 16), dtype="u2", overwrite=True, **options
        )  # type: ignore[arg-type]
        return ArrayCoder((tmp_path / METADATA).read_bytes())

    own = {"serializer": codecs.Ccsds123(), "compressors": None}
    assert launch_batches(coder(**own), 4, "encode") == LAUNCH_BYTES // (8 * 16 * 2) // 4
    monkeypatch.setattr(codecs.Ccsds123, "launch_chunks", lambda *_: 12)
    assert [launch_batches(coder(**own), n, "encode") for n in (1, 5, 20)] == [12, 2, 1]
    assert launch_batches(coder(), 4, "encode") is None


@pytest.mark.parametrize(
    ("n_batches", "batch_bytes", "batches"),
    [
        (1, 1, 1),
        (320, 1, 10),
        (10**6, LAUNCH_BYTES // 4, 4),
        (10**6, 2 * LAUNCH_BYTES, 1),
        (0, 0, 1),
    ],
)
def test_a_task_of_a_device_has_enough_and_no_more(
    n_batches: int, batch_bytes: int, batches: int
) -> None:
    share = share_of_device(n_batches, batch_bytes)
    assert (share.batches, share.peak_bytes) == (batches, COPIES * batches * batch_bytes)
