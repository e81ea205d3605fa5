"""All kernels are compiled before anything is measured, and the profiler knows them all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from emulator.compile_kernels import compile_variant, entries, native, packages, variants

FOLDER = Path(__file__).parents[3] / "deploy" / "gpu"
PTX = "compute_90"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    import compile_all

    return compile_all


def test_what_is_compiled_first_is_found_by_a_launch(tmp_path: Path) -> None:
    """In another process, as the cache is used; with NVRTC, but with neither driver nor device."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="the test extra brings NVRTC")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, FOLDER / "compile_all.py", "--for", "sm_90", "--package", "dna"]
    said = subprocess.check_output(command, env=environment, text=True)
    n = len({(one.file, *one.defines.items()) for one in variants("gangsaw.codecs.dna")})
    assert said == f"{n} compiled sources are in the cache\n"
    made = {path.name for path in (tmp_path / "gangsaw/cuda").iterdir()}
    assert len(made) == n
    assert subprocess.check_output(command, env=environment, text=True) == said
    assert {path.name for path in (tmp_path / "gangsaw/cuda").iterdir()} == made


def test_every_package_of_kernels_is_compiled(program: Any) -> None:
    wanted = program.wanted()
    assert {one.package for one in wanted} == set(packages())
    assert {str(native(one)) for one in wanted} <= {str(one) for one in wanted}


@pytest.mark.parametrize("package", packages())
def test_the_profiler_knows_every_kernel(program: Any, package: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="the test extra brings NVRTC")
    # of a virtual architecture: as far as PTX, which takes half as long
    compiled = {name for one in variants(package) for name in entries(compile_variant(one, PTX))}
    assert compiled == set(program.names(package))


def test_the_script_profiles_and_measures_every_package(program: Any) -> None:
    script = (FOLDER / "measure.sh").read_text()
    found = re.search(r'CODECS="([^"]*)"', script)
    assert found is not None
    assert {package.rpartition(".")[2] for package in packages()} == set(found[1].split())
