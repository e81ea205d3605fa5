"""Trial of a mutation: a copy of the tree with the fault, and tests that run on it."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from helpers.hang import HANG

from mutations.mutate import FOLDERS, Mutation
from mutations.reach import ROOT

MEMORY = 8 << 30  # bytes of data that a process may take
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
NOTHING_RAN = 5  # exit status of pytest


@dataclass(frozen=True)
class Copy:
    """A copy of the committed tree, which takes the place of the installed package.

    Attributes
    ----------
    root : folder of the copy
    site : folder with the package `gangsaw`, put together of links into the copy
    """

    root: Path
    site: Path

    @classmethod
    def make(cls, folder: Path) -> Copy:
        """Clone the tree into a folder."""
        root, site = folder / "tree", folder / "site"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)
        shutil.copytree(root / "src" / "gangsaw", site / "gangsaw", symlinks=True)
        for part in site.joinpath("gangsaw").iterdir():
            shutil.rmtree(part) if part.is_dir() else part.unlink()
        for part in (root / "src" / "gangsaw").iterdir():
            (site / "gangsaw" / part.name).symlink_to(part)
        for name in FOLDERS[:-1]:
            (site / "gangsaw" / name).symlink_to(root / name)
        return cls(root, site)

    def run(self, tests: list[str], processes: int) -> str:
        """Run tests until one fails; return its name, "" if all pass."""
        if not tests:
            return ""
        listed = self.root.parent / "tests.txt"
        listed.write_text("\n".join(tests))
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "-p", "no:cacheprovider"]
        command += ["-n", str(processes)] if processes > 1 else []
        started = subprocess.Popen(
            [*command, f"@{listed}"],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
        )
        try:
            output, _ = started.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            return "a test that hangs"
        finally:
            end_session(started.pid)
        if started.returncode in (0, NOTHING_RAN):
            return ""
        found = FAILED.search(output)
        return found[1] if found else f"exit status {started.returncode}: {output[-200:]}"

    def is_used(self) -> bool:
        """Return whether Python finds the copy, not the installed package."""
        code = "import gangsaw.tasks, sys; sys.stdout.write(gangsaw.tasks.__path__[0])"
        environment = {**os.environ, "PYTHONPATH": str(self.site)}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment, cwd=self.root, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return Path(done.stdout).resolve() == (self.root / "tasks").resolve()


def end_session(process: int) -> None:
    """End what a process left in its session."""
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def collected(copy: Copy, *options: str) -> set[str]:
    """Return the names of the tests of the quick tier; with the option `--all`, of all."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--collect-only",
            "-p",
            "no:cacheprovider",
            *options,
        ],
        cwd=copy.root,
        env={**os.environ, "PYTHONPATH": str(copy.site)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {line for line in done.stdout.splitlines() if "::" in line}


def try_mutation(mutation: Mutation, copy: Copy, tests: list[str], processes: int) -> str:
    """Run tests on a mutated copy; return the name of one that fails, else ""."""
    mutation.apply(copy.root)
    try:
        return copy.run(tests, processes)
    finally:
        mutation.undo(copy.root)
