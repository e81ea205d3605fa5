"""Options of a counting job, and callbacks of its progress."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gangsaw.tasks.engine.report.progress import OnProgress


@dataclass(frozen=True)
class CountChoice:
    """Options of a counting job: files that it may replace, resume or leave out.

    Parameters
    ----------
    table : pathlib.Path, optional
        Table of dropped rows. None puts it next to the store.
    resume : bool, default False
        True continues an interrupted run with the same files and setup.
    overwrite : bool, default False
        True replaces an existing store, which stays complete until the new one is.
    keep_going : bool, default False
        True uses the rows before the damage of a file, or none if it cannot be opened. The summary
        names it.
    durable : bool, default True
        True syncs finished work to the disk.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> tcr.CountChoice(overwrite=True).replaces_table
    True
    """

    table: Path | None = None
    resume: bool = False
    overwrite: bool = False
    keep_going: bool = False
    durable: bool = True

    @property
    def replaces_table(self) -> bool:
        """True if an existing table of dropped rows may be replaced."""
        return self.overwrite or self.resume


@dataclass(frozen=True)
class PhaseProgress:
    """Progress callbacks of the two phases, called in the job's thread.

    Parameters
    ----------
    on_read : callable, optional
        Function that is called after each file. It gets the state of the phase: done and total
        count files, raw bytes are those of the files.
    on_count : callable, optional
        Function that is called after each chunk. Here done and total count references.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> states = []
    >>> tcr.PhaseProgress(on_count=states.append).on_read is None
    True
    """

    on_read: OnProgress | None = None
    on_count: OnProgress | None = None
