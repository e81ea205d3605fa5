"""A short run of imaging spectrometry, which compiles what a user's first needs."""

from __future__ import annotations

from gangsaw.tasks.kernels.first_runs import FirstRun, FirstRuns


def _runs() -> tuple[FirstRun, ...]:
    """Return the demo with scenes of few and many bands: kernels are made for classes of counts."""
    return tuple(
        FirstRun(
            f"scene of {bands} bands",
            lambda _: None,
            (("demo", "--size", f"{bands},64,64", "--workers", "0", "--quiet"),),
        )
        for bands in (8, 96)
    )


FIRST_RUNS = FirstRuns(_runs())
