"""Fixtures of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def shared_folder() -> Path:
    """Where real scenes and third-party streams may lie: GANGSAW_SHARED, else beside the clone."""
    return Path(os.environ.get("GANGSAW_SHARED", REPOSITORY.parent / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of real data; the test is skipped where it is absent."""
    folder = shared_folder()
    if not (folder / "data").is_dir():
        pytest.skip(f"no data folder in {folder}: set GANGSAW_SHARED to the folder that has it")
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden",
        action="store_true",
        help="add the golden files of samples that have none; overwrite nothing",
    )
