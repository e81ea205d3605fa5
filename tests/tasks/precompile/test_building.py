"""Packs hold what samples of a codec need; `.ci/run` shows it of first runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba.packs import levels, pack_files, packs
from gangsaw.tasks.precompile import building

COMPILED = """
from gangsaw.codecs.core.numba.packs.compile_counts import counters
import sys
sys.stderr.write(f"compiled {counters.count}")
"""
SAMPLES = """
import sys
from gangsaw.tasks.precompile.samples import run_samples
for codec in sys.argv[1:]:
    run_samples(codec)
"""
AT_END = f"import atexit; atexit.register(exec, {COMPILED!r}, {{}})"


def test_wrong_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadParams, match="no level of instructions is called 'v9'"):
        building.build_packs(["v9"])
    with pytest.raises(BadParams, match="no codec is called 'nothing': there are bwt"):
        building.build_packs(codec="nothing")
    monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    with pytest.raises(BadParams, match="NUMBA_CPU_NAME is set"):
        building.build_packs()


def compiled(tmp_path: Path, code: str, *arguments: str) -> int:
    """Kernels that a process compiles with packs in `tmp_path` and an empty cache."""
    environment = {
        **os.environ,
        pack_files.FOLDERS: str(tmp_path / "packs"),
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


@pytest.mark.full
@pytest.mark.skipif(not levels.host_levels(), reason="this processor has the features of no level")
def test_with_a_pack_of_a_codec_its_samples_compile_nothing(tmp_path: Path) -> None:
    (built,) = building.build_packs(into=tmp_path / "packs", codec="integers")
    assert built.ran
    assert compiled(tmp_path, SAMPLES, "integers") == 0


@pytest.mark.full
def test_a_level_that_this_processor_has_not_is_compiled_only(tmp_path: Path) -> None:
    able = levels.host_levels()
    wide = levels.level_named("x86-64-v4-gfni")
    if not able or wide in able:
        pytest.skip("this processor runs each level, or none")
    (built,) = building.build_packs([wide.name], into=tmp_path, codec="dna")
    assert not built.ran
    opened = packs.opened(Path(built.path), wide)
    assert opened is not None
    assert built.kernels == len(opened.members) > 5
