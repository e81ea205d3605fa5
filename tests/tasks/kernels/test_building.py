"""Packs are built from first runs, and hold what these need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba.kept import levels, packs, places
from gangsaw.tasks.kernels import building
from gangsaw.tasks.kernels.first_runs import first_runs
from gangsaw.tasks.kernels.running import COMMAND, SAMPLES
from gangsaw.tasks.kernels.samples import codecs

COMPILED = """
from gangsaw.codecs.core.numba.kept.telling import tally
import sys
sys.stderr.write(f"compiled {tally.count}")
"""
AT_END = f"import atexit; atexit.register(exec, {COMPILED!r})"


def test_wrong_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadParams, match="no level of instructions is called 'v9'"):
        building.build(["v9"])
    with pytest.raises(BadParams, match="no codec is called 'nothing': there are bwt"):
        building.build(codec="nothing")
    monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    with pytest.raises(BadParams, match="NUMBA_CPU_NAME is set"):
        building.build()


def compiled(tmp_path: Path, code: str, *arguments: str) -> int:
    """Kernels that a process compiles with packs in `tmp_path` and an empty cache."""
    environment = {
        **os.environ,
        places.FOLDERS: str(tmp_path / "packs"),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", f"{AT_END}\n{code}", *arguments],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"compiled (\d+)$", done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


@pytest.mark.slow
@pytest.mark.skipif(not levels.host_levels(), reason="this processor has the features of no level")
def test_with_a_pack_nothing_is_compiled(tmp_path: Path) -> None:
    """Each codec's samples, and each first run, after a build for this processor's level."""
    (built,) = building.build(into=tmp_path / "packs")
    assert built.ran
    for codec in codecs():
        assert compiled(tmp_path, SAMPLES, codec) == 0, codec
    for first in first_runs().values():
        first.make(tmp_path)
        for command in first.commands:
            more = () if command[0] in ("search", "extract", "demo") else ("--overwrite",)
            more = () if command[0] == "verify" else more
            assert compiled(tmp_path, COMMAND, *command, *more) == 0, command


@pytest.mark.slow
def test_a_level_that_this_processor_has_not_is_compiled_only(tmp_path: Path) -> None:
    able = levels.host_levels()
    wide = levels.level_named("x86-64-v4-gfni")
    if not able or wide in able:
        pytest.skip("this processor runs each level, or none")
    (built,) = building.build([wide.name], into=tmp_path, codec="dna")
    assert not built.ran
    opened = packs.opened(Path(built.path), wide)
    assert opened is not None
    assert built.kernels == len(opened.members) > 5
