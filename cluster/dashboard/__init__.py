"""State of jobs on a scheduler, shown as a page, as JSON and as Prometheus metrics."""
