"""A bucket, an address in it and a cube, for stores far away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.job_data import cube
from helpers.s3 import BUCKET, SHAPE, Bucket, serving


@pytest.fixture(scope="package")
def server() -> Iterator[Bucket]:
    with serving() as bucket:
        yield bucket


@pytest.fixture
def bucket(server: Bucket) -> Bucket:
    server.faults()
    return server


@pytest.fixture
def raw(tmp_path: Path) -> str:
    cube(SHAPE).tofile(tmp_path / "cube.raw")
    return str(tmp_path / "cube.raw")


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    return f"s3://{BUCKET}/{request.node.name}.zarr"
