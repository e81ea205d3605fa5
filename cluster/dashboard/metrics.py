"""Table of the metrics that a scheduler serves at /metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LABELS = ("codec", "backend", "job")  # Zarr name or "", "cpu" or "gpu", "compress" or another kind


@dataclass(frozen=True)
class Metric:
    """Description of a Prometheus metric: with labels, or a single number.

    Attributes
    ----------
    name : name shown at /metrics
    kind : "counter", monotonic while the scheduler runs, or "gauge"
    help : description, one line
    labels : names of the labels
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    labels: tuple[str, ...] = LABELS


CHUNKS = Metric("gangsaw_chunks_total", "counter", "Chunks that were done, each counted once.")
FAILED = Metric(
    "gangsaw_chunks_failed_total",
    "counter",
    "Chunks that could not be done, and damaged ones that a job found; one that is tried again "
    "counts each time.",
)
DECODED = Metric("gangsaw_decoded_bytes_total", "counter", "Bytes of the samples of these chunks.")
ENCODED = Metric("gangsaw_encoded_bytes_total", "counter", "Bytes of these chunks as stored.")
SECONDS = Metric(
    "gangsaw_task_seconds_total", "counter", "Seconds that threads of workers spent on them."
)
LEFT = Metric("gangsaw_chunks_left", "gauge", "Chunks that running jobs have not done.", ())
RUNNING = Metric("gangsaw_jobs_running", "gauge", "Jobs that have begun and not ended.", ())
PROGRESS = Metric(
    "gangsaw_last_progress_timestamp_seconds",
    "gauge",
    "Time of the last report of a chunk, in seconds since 1970; 0 before the first.",
    (),
)
METRICS = (CHUNKS, FAILED, DECODED, ENCODED, SECONDS, LEFT, RUNNING, PROGRESS)
