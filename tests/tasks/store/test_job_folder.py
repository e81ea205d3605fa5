"""Whose a folder is, and how far its job is."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.job_folder import (
    STEPS_JOB,
    FolderOwner,
    FolderState,
    JobFolder,
)
from gangsaw.tasks.store.state.manifest import MANIFEST


def test_owner_of_a_folder(tmp_path: Path) -> None:
    folder = JobFolder(open_prefix(tmp_path / "steps", writable=True), STEPS_JOB)
    assert folder.owner(b"mine") is FolderOwner.NOBODY
    assert not folder.has_job
    assert folder.claim(b"mine")
    assert folder.owner(b"mine") is FolderOwner.THIS_JOB
    assert folder.owner(b"yours") is FolderOwner.OTHER_JOB
    assert folder.has_job


def test_another_job_does_not_claim_it(tmp_path: Path) -> None:
    folder = JobFolder(open_prefix(tmp_path, writable=True))
    assert folder.claim(b"mine")
    assert not folder.claim(b"yours")
    assert folder.claim(b"mine")
    assert folder.identity() == b"mine"


def test_state_of_a_job(tmp_path: Path) -> None:
    place = open_prefix(tmp_path, writable=True)
    folder = JobFolder(place)
    states = [folder.state]
    folder.claim(b"mine")
    states.append(folder.state)
    place.put(MANIFEST, b"x")
    states.append(folder.state)
    place.delete(folder.key)
    states.append(folder.state)
    assert states == [
        FolderState.FOREIGN,
        FolderState.UNFINISHED,
        FolderState.FINISHED,
        FolderState.FINISHED,
    ]


def test_fields_of_the_identity(tmp_path: Path) -> None:
    folder = JobFolder(open_prefix(tmp_path, writable=True))
    assert folder.fields() is None
    assert folder.text("source") == ""
    folder.claim(b'{"source": "a.raw", "n_chunks": 3}')
    assert folder.fields() == {"source": "a.raw", "n_chunks": 3}
    assert folder.text("source") == "a.raw"
    with pytest.raises(CorruptChunk, match=r"job\.json"):
        folder.text("n_chunks")
