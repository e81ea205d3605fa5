"""The history of a store: what jobs leave, and that nothing stands on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from helpers.job_data import raw_source

from gangsaw.tasks.jobs.chunks.transcode import Transcode
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.figures.report import describe
from gangsaw.tasks.jobs.sizes import original_bytes_of
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.state.history import (
    HISTORY,
    MOST_ENTRIES,
    PastJob,
    append_entry,
    read_history,
)

ENTRY = PastJob("compress", "1", "2026-01-01T00:00:00+00:00", "2026-01-02T00:00:01+00:00", "done")


def test_every_run_that_ended_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gangsaw: CommandLine
) -> None:
    source, target = raw_source(tmp_path), tmp_path / "a.zarr"

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Transcode, "commit", stopped)
    with pytest.raises(KeyboardInterrupt):
        compress(source, target, codec="none")
    monkeypatch.undo()
    done = compress(source, target, codec="none", resume=True)
    first, last = describe(str(target)).history
    assert (first.command, first.outcome, first.chunks) == ("compress", "interrupted", 0)
    assert (last.outcome, last.chunks, last.stored_bytes) == ("done", 1, done.stored_bytes)
    assert (last.workers, last.seconds >= 0, last.began >= first.began) == (1, True, True)
    assert verify(target).ok
    assert verify(target).extra == ()
    assert "compress done in 0:0" in gangsaw.ok("info", target).out
    assert len(gangsaw.ok("info", target, "--json").figures["history"]) == 2
    compress(source, target, codec="none", overwrite=True)
    assert len(describe(str(target)).history) == 1  # it is another store


def test_it_is_bounded(tmp_path: Path) -> None:
    place = open_prefix(tmp_path / "a", writable=True)
    for i in range(MOST_ENTRIES + 3):
        append_entry(place, PastJob(**{**vars(ENTRY), "chunks": i}))
    kept = read_history(place, [""])
    assert [entry.chunks for entry in kept] == list(range(3, MOST_ENTRIES + 3))
    assert ENTRY.seconds == 86401


@pytest.mark.parametrize("line", [b"", b"\xff", b"{}", b"3", b'{"command": "x"}', b"[[[", b"null"])
def test_a_damaged_one_harms_nothing(tmp_path: Path, line: bytes) -> None:
    place = open_prefix(tmp_path / "a", writable=True)
    append_entry(place, ENTRY)
    whole = place.get(HISTORY)
    assert whole is not None
    wrong = whole.to_bytes().replace(b"2026", b"then")
    place.put(HISTORY, line + b"\n" + wrong + whole.to_bytes())
    assert read_history(place, ["", "b"]) == (ENTRY,)


def test_an_entry_of_earlier_versions_knows_no_files(tmp_path: Path) -> None:
    place = open_prefix(tmp_path / "a", writable=True)
    earlier = {key: value for key, value in vars(ENTRY).items() if key != "source_bytes"}
    place.put(HISTORY, json.dumps(earlier).encode())
    assert read_history(place, [""]) == (ENTRY,)
    assert original_bytes_of([ENTRY]) == 0
    known = PastJob(**{**vars(ENTRY), "source_bytes": 7})
    assert original_bytes_of([known, PastJob(**{**vars(ENTRY), "outcome": "failed"})]) == 7
    assert original_bytes_of([known, ENTRY]) == 0  # of what was appended nothing is known


def test_one_that_cannot_be_written_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Prefix.put

    def refused(self: Prefix, key: str, data: bytes) -> None:
        if key == HISTORY:
            raise PermissionError(13, "Permission denied")
        put(self, key, data)

    monkeypatch.setattr(Prefix, "put", refused)
    done = compress(raw_source(tmp_path), tmp_path / "a.zarr", codec="none")
    assert done.chunks
    assert describe(str(tmp_path / "a.zarr")).history == ()
