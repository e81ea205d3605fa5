"""Golden files: the bytes that releases wrote are decoded for ever.

`python -m pytest --write-golden` adds the files of samples that have none and overwrites nothing.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.every_codec import TESTS, Case, cases, codec_types, folder, golden, home, over

from gangsaw.codecs.core import codec_table

FILES = [(kind, path) for kind in codec_types() for path in sorted(golden(kind).rglob("*.json"))]


def checksum(array: npt.NDArray[Any]) -> str:
    plain = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    return hashlib.sha256(plain.tobytes()).hexdigest()


@over(cases())
def test_each_sample_has_a_golden_file(case: Case, request: pytest.FixtureRequest) -> None:
    path = home(case) / f"{case.sample.name}.json"
    if not path.exists() and request.config.getoption("--write-golden"):
        write(case, path)
    assert path.exists(), "add it: python -m pytest --write-golden"


def write(case: Case, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    what = {
        "codec": case.codec.to_dict(),
        "shape": list(case.array.shape),
        "dtype": case.array.dtype.newbyteorder("<").str,
        "sha256": checksum(case.array),
    }
    with path.with_suffix(".frame").open("xb") as file:
        file.write(case.encode())
    with path.open("x") as file:
        json.dump(what, file, indent=1)


@pytest.mark.quick(cases=4, by=lambda parameters: folder(parameters["codec_type"]))
@pytest.mark.parametrize(
    ("codec_type", "path"),
    FILES,
    ids=[f"{folder(kind)}-{path.parent.name}-{path.stem}" for kind, path in FILES],
)
def test_golden_file_decodes(codec_type: Any, path: Path) -> None:
    what = json.loads(path.read_text())
    codec = codec_type.from_dict(what["codec"])
    out = np.empty(what["shape"], what["dtype"])
    codec.decode_chunk(path.with_suffix(".frame").read_bytes(), out)
    assert checksum(out) == what["sha256"]


def test_every_golden_folder_has_its_codec() -> None:
    of_bytes = {kind.codec_name.rpartition(".")[2] for kind in codec_table.bytes_classes()}
    found = {path.name for path in (TESTS / "golden").iterdir()}
    assert found <= {*map(folder, codec_types()), *of_bytes}
