"""Collector of the metrics for the Prometheus client, if installed; Dask serves its registry."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from gangsaw.cluster.dashboard.jobs import Jobs
from gangsaw.cluster.dashboard.metrics import METRICS


class Collector:
    """Collector of job metrics for the Prometheus client; one per process, for its scheduler."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    def collect(self) -> Iterator[object]:
        """Yield a Prometheus metric family, with its values, for each metric."""
        core = import_module("prometheus_client.core")
        families = {"counter": core.CounterMetricFamily, "gauge": core.GaugeMetricFamily}
        for metric in METRICS:
            family = families[metric.kind](metric.name, metric.help, labels=metric.labels)
            for labels, value in self.jobs.series(metric):
                family.add_metric(labels, value)
            yield family


_collector: Collector | None = None  # the registered one; a second one would be refused


def serve(jobs: Jobs) -> bool:
    """Serve Prometheus metrics of these jobs at /metrics; return False without its client."""
    global _collector
    try:
        registry = import_module("prometheus_client").REGISTRY
    except ModuleNotFoundError:
        return False
    if _collector is None:
        registry.register(collector := Collector(jobs))
        _collector = collector
    _collector.jobs = jobs
    return True
