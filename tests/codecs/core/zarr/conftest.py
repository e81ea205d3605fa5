"""Tests of Zarr run under each of its pipelines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import zarr
from helpers.zarr_arrays import PIPELINES, own_pool
from plain_codec.codec import Plain
from zarr.registry import register_codec


@pytest.fixture(params=PIPELINES)
def pipeline(request: pytest.FixtureRequest) -> Iterator[str]:
    register_codec("test.plain", Plain)
    path = f"zarr.core.codec_pipeline.{request.param}"
    with zarr.config.set({"codec_pipeline.path": path}), own_pool():
        yield request.param
