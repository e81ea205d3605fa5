"""A bucket of an S3 server on this machine, with faults."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.hang import HANG

BUCKET = "bucket"
SHAPE = (4, 64, 64)
RAW: dict[str, Any] = {"shape": SHAPE, "dtype": "uint16"}
JOB = {**RAW, "chunks": (4, 16, 16), "codec": "zstd"}  # 16 chunks


@dataclass(frozen=True)
class Bucket:
    """The end point of a server that holds one bucket.

    Attributes
    ----------
    endpoint : its address
    """

    endpoint: str

    @property
    def options(self) -> dict[str, Any]:
        """What opens it, beside the address of an object."""
        return {
            "key": "test",
            "secret": "testtest",
            "client_kwargs": {"endpoint_url": self.endpoint, "region_name": "us-east-1"},
        }

    @property
    def environment(self) -> dict[str, str]:
        """Variables that say the same."""
        return {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "testtest",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def faults(self, **faults: Any) -> None:
        """Set what goes wrong from now on, and count anew."""
        self._ask("PUT", "/__faults", json.dumps(faults).encode())

    def counts(self) -> dict[str, int]:
        """Return how often each fault, method and request came."""
        return dict(json.loads(self._ask("GET", "/__counts")))

    def of_chunks(self, method: str) -> dict[str, int]:
        """Return how often each chunk was asked for by a method."""
        found = self.counts().items()
        return {key: n for key, n in found if key.startswith(f"{method} /") and "/c/" in key}

    def _ask(self, method: str, path: str, data: bytes | None = None) -> bytes:
        request = urllib.request.Request(self.endpoint + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=HANG) as reply:
            return bytes(reply.read())


def copy_of(address: str) -> str:
    """Return the address of a second store."""
    return address.replace(".zarr", "-copy.zarr")


@contextmanager
def serving() -> Iterator[Bucket]:
    """Run a server while the context lasts."""
    script = Path(__file__).with_name("fault_proxy.py")
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            bucket = Bucket(f"http://127.0.0.1:{int(process.stdout.readline())}")
            bucket._ask("PUT", f"/{BUCKET}")
            yield bucket
        finally:
            process.communicate()  # closes its input
