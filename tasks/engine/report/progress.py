"""Progress of a job."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from gangsaw.tasks.engine.report.counters import current_counters

FILES, SAMPLES = "files", "samples"  # bases of a compression ratio


class Amounts:
    """Base class of job results: ratio and throughput from bytes and time.

    `source_bytes` is the size of the input files of a store, 0 if unknown.
    """

    raw_bytes: int
    stored_bytes: int
    run_bytes: int
    seconds: float
    source_bytes: int = 0

    @property
    def ratio_base(self) -> str:
        """Numerator of the ratio: "files", or "samples" if the size of the files is unknown."""
        return FILES if self.source_bytes else SAMPLES

    @property
    def base_bytes(self) -> int:
        """Bytes of the files, or of the samples if the size of the files is unknown."""
        return self.source_bytes or self.raw_bytes

    @property
    def ratio(self) -> float:
        """Bytes of the files, or of the samples, over stored bytes; 0 before the first chunk."""
        return self.base_bytes / self.stored_bytes if self.stored_bytes else 0.0

    @property
    def throughput(self) -> float:
        """Raw bytes per second of this run."""
        return self.run_bytes / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Progress(Amounts):
    """State of a job after a batch.

    Attributes
    ----------
    done, total : numbers of finished and of all chunks; the total of a stream is 0 until it ends
    resumed : chunks of `done` that an earlier run had finished
    raw_bytes, stored_bytes : bytes of the chunks done, earlier runs included
    run_bytes : raw bytes of this run
    seconds : seconds since this run began
    share : part of a stream that is done, 0 to 1; None if unknown
    step : name of a preparatory step, with counts of its own; "" while the chunks are done
    """

    done: int
    total: int
    resumed: int
    raw_bytes: int
    stored_bytes: int
    run_bytes: int
    seconds: float
    share: float | None = None
    step: str = ""

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end; None before the first chunk or for an unknown total."""
        if not self.total:  # a stream: chunks of an earlier run are read and compared
            return self.seconds * (1 - self.share) / self.share if self.share else None
        ran = self.done - self.resumed
        return self.seconds / ran * (self.total - self.done) if ran else None


OnProgress = Callable[[Progress], None]


class Meter:
    """Counter of a job's finished chunks and bytes, which reports progress to a callback.

    Parameters
    ----------
    total : chunks of the job
    on_progress : called after each change, or None
    started : time.monotonic() at the start of the run; None for now
    step : name of a preparatory step, "" for the chunks
    """

    def __init__(
        self,
        total: int,
        on_progress: OnProgress | None,
        started: float | None = None,
        step: str = "",
    ) -> None:
        self.on_progress = on_progress
        self.started = time.monotonic() if started is None else started
        self.progress = Progress(0, total, 0, 0, 0, 0, 0.0, step=step)

    def resume(self, chunks: int, raw_bytes: int, stored_bytes: int) -> None:
        """Count the chunks of an earlier run; report even if there are none."""
        self._set(done=chunks, resumed=chunks, raw_bytes=raw_bytes, stored_bytes=stored_bytes)

    def add(
        self,
        chunks: int,
        raw_bytes: int,
        stored_bytes: int,
        *,
        resumed: bool = False,
        share: float | None = None,
    ) -> None:
        """Count a batch of this run, or with `resumed` a batch of an earlier run.

        `share` is the part of a stream that is done by now.
        """
        before = self.progress
        self._set(
            share,
            done=before.done + chunks,
            resumed=before.resumed + resumed * chunks,
            raw_bytes=before.raw_bytes + raw_bytes,
            stored_bytes=before.stored_bytes + stored_bytes,
            run_bytes=before.run_bytes + (not resumed) * raw_bytes,
        )

    def _set(self, share: float | None = None, **changed: int) -> None:
        seconds = time.monotonic() - self.started
        known = self.progress
        self.progress = replace(known, seconds=seconds, share=share, step=known.step, **changed)
        if (counters := current_counters()) is not None:
            counters.add_progress(known, self.progress)
        if self.on_progress is not None:
            self.on_progress(self.progress)
