"""Keys that nodes of a cluster read from files: no longer there than their run."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

from gangsaw.cluster import security
from gangsaw.cluster.launchers import ssh
from gangsaw.cluster.security import key_folder

HOLD = """
import sys, time
from pathlib import Path
from gangsaw.cluster.security import key_folder
with key_folder(Path(sys.argv[1])) as folder:
    (folder / "tls_client_key").write_text("secret")
    print(folder, flush=True)
    sys.stdin.read()
"""


def hold(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a run that holds keys; return it and their folder."""
    run = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    return run, Path(run.stdout.readline().strip())


def test_keys_of_a_killed_run_are_swept(tmp_path: Path) -> None:
    run, left = hold(tmp_path)
    with run:
        with key_folder(tmp_path) as own:
            assert left.is_dir()  # its run goes on
            assert own.is_dir()
            assert own.stat().st_mode & 0o077 == 0
        assert [*tmp_path.iterdir()] == [left]
        run.send_signal(signal.SIGKILL)
        run.wait()
        assert (left / "tls_client_key").exists()
        with key_folder(tmp_path) as own:
            assert [*tmp_path.iterdir()] == [own]
    assert [*tmp_path.iterdir()] == []


def test_folders_without_a_lock_are_swept_when_they_are_old(tmp_path: Path) -> None:
    old, new, other = (tmp_path / name for name in ("tls-old", "tls-new", "logs"))
    for folder in (old, new, other):
        folder.mkdir()
    past = old.stat().st_mtime - security.OLD_SECONDS - 1
    for folder in (old, other):
        os.utime(folder, (past, past))
    with key_folder(tmp_path):
        assert not old.exists()
    assert {*tmp_path.iterdir()} == {new, other}


def test_words_of_a_host_are_heard() -> None:
    log = logging.getLogger("distributed.deploy.ssh")
    with ssh._collect_errors() as said:
        log.info("bash: line 1: %s: No such file or directory", "/no/python")
        log.debug("not this")
    log.info("nor this")
    assert ssh._words(said) == (
        "; the host said: bash: line 1: /no/python: No such file or directory"
    )
    assert ssh._words([" ", *"abcd"]) == "; the host said: b / c / d"
    assert ssh._words([]) == ""
