"""Batches side by side in this process: in their turn, and nothing stays begun."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.hang import wait_until

from gangsaw.codecs.core.errors import CorruptChunk, JobFailed
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.run.run import run_batches


@dataclass(frozen=True)
class Pairs:
    """Each batch waits for the one beside it; 7 fails. Leaves a file for what it was told."""

    folder: str
    side_by_side: bool = True
    peak_bytes: int = 0
    name: str = "pairs"

    def begin(self, number: int) -> bool:
        return number < 6

    def ready(self, number: int) -> None:
        Path(self.folder, f"ready-{number}").touch()

    def forget(self, number: int) -> None:
        Path(self.folder, f"forgot-{number}").touch()

    def __call__(self, number: int) -> int:
        Path(self.folder, f"came-{number}").touch()
        with name_failed_chunk(f"c/{number}"):
            if number == 7:
                raise CorruptChunk("the checksum differs", block=3)
        others = [Path(self.folder, f"came-{other}") for other in (number ^ 1, 7)]
        wait_until(lambda: any(other.exists() for other in others))  # after 7 none may begin
        return number


@pytest.fixture
def two_threads() -> Iterator[None]:
    set_thread_limit(2)
    yield
    set_thread_limit(None)


def files(folder: Path, begin: str) -> set[int]:
    return {int(path.name.removeprefix(begin)) for path in folder.glob(f"{begin}*")}


@pytest.mark.usefixtures("two_threads")
def test_batches_are_done_side_by_side_in_this_process(tmp_path: Path) -> None:
    """Each is told in its turn, and what was begun for it is let go of."""
    told: list[int] = []
    run_batches(Pairs(str(tmp_path)), range(6), lambda batch, _: told.append(batch))
    assert told == [*range(6)]
    assert files(tmp_path, "ready-") == files(tmp_path, "forgot-") == {*range(6)}


@pytest.mark.usefixtures("two_threads")
def test_a_failure_ends_what_is_side_by_side(tmp_path: Path) -> None:
    """Those before it are told, of those after it none is begun and kept."""
    told: list[int] = []
    with pytest.raises(JobFailed, match="chunk c/7: block 3: the checksum differs"):
        run_batches(Pairs(str(tmp_path)), range(40), lambda batch, _: told.append(batch))
    assert told == [*range(len(told))]
    assert len(told) <= 7
    assert files(tmp_path, "forgot-") >= files(tmp_path, "came-")
    assert max(files(tmp_path, "came-")) < 12
