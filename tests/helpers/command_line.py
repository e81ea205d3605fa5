"""Runs `gangsaw` command lines in this process and holds them to the rules of errors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Ran:
    """What a command line gave back."""

    code: int
    out: str
    err: str

    @property
    def figures(self) -> dict[str, Any]:
        """Its JSON: stdout holds nothing else."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    def failed(self, code: int) -> str:
        """Assert the exit code, an empty stdout and one line on stderr; return that line."""
        assert self.code == code, (self.out, self.err)
        assert self.out == "", self.out
        assert self.err.startswith("gangsaw: "), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err


@dataclass(frozen=True)
class CommandLine:
    """`gangsaw` with its output captured."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, *args: object) -> Ran:
        """Run one command line."""
        from gangsaw.cli import main

        self.capsys.readouterr()
        code = main([str(arg) for arg in args])
        captured = self.capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    def ok(self, *args: object) -> Ran:
        """Run one that must succeed, silently on stderr."""
        ran = self(*args)
        assert (ran.code, ran.err) == (0, ""), ran
        return ran
