"""gangsaw kernels build, list and warm, and what packs spare, on a codec with one kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gangsaw.codecs.core.numba.packs import levels, pack_files, packs
from gangsaw.tasks.precompile.running import COMMAND

LEVEL = (levels.host_levels() or (None,))[0]
needs_level = pytest.mark.skipif(LEVEL is None, reason="this processor has features of no level")

ENTRIES = """
[zarr.codecs]
gangsaw.tiny = tiny_codec.codec:Tiny
[gangsaw.bytes_codecs]
gangsaw.tiny = tiny_codec.codec:Tiny
"""
CODEC = """
from dataclasses import dataclass
import numpy as np
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec

@jit
def turn(data, out):
    for i in range(data.size):
        out[i] = data[i] ^ (i & 255)

@dataclass(frozen=True)
class Params:
    def to_dict(self): return {}
    @classmethod
    def from_dict(cls, data): return cls()

class Tiny(BytesCodec):
    codec_name, params_type = "gangsaw.tiny", Params
    def encode_bytes(self, data):
        out = np.empty_like(data)
        turn(data, out)
        return out
    decode_bytes = encode_bytes
    def peak_bytes(self, n_bytes): return n_bytes
"""
SAMPLES = """
import numpy as np
from gangsaw.codecs.core.plugins.samples import Sample
from tiny_codec.codec import Params

def samples():
    return [Sample("some", np.arange(9, dtype="u1"), Params())]
"""
ENCODE = """
import json, sys
import numpy as np
from gangsaw.codecs.core.numba.packs import turns
from gangsaw.codecs.core.numba.packs.compile_counts import counters
from tiny_codec.codec import Tiny

def ask(answer):
    print(answer, flush=True)
    return sys.stdin.readline()

def take(path, longest=turns.LONGEST_WAIT, plain=turns.acquire):
    found = plain(path, longest)
    if sys.argv[1] == "first":
        ask("has its turn")
    return found

def sleep(seconds, plain=turns.time.sleep):
    if sys.argv[1] == "second":
        sys.argv[1] = ""
        print("waits", flush=True)
    plain(seconds)

turns.acquire, turns.time.sleep = take, sleep
data = np.arange(1000, dtype="i4").astype("u1")
print(json.dumps({"bytes": Tiny().encode_bytes(data).tobytes().hex(), "compiled": counters.count}))
"""


class Workplace:
    """A folder with a codec, and processes that find it, a folder of packs and a cache."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.packs = folder, folder / "packs"
        (folder / "tiny_codec").mkdir()
        (folder / "tiny-1.dist-info").mkdir()
        files = {
            "tiny-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n",
            "tiny-1.dist-info/entry_points.txt": ENTRIES,
            "tiny_codec/__init__.py": "",
            "tiny_codec/codec.py": CODEC,
            "tiny_codec/samples.py": SAMPLES,
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="ascii")

    def start(self, code: str, *arguments: object, cache: str = "cache", **more: str) -> Any:
        """Start Python in a process."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            pack_files.FOLDERS: str(self.packs),
            "NUMBA_CACHE_DIR": str(self.folder / cache),
            **more,
        }
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            env=environment,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )

    def run(self, code: str, *arguments: object, **more: str) -> str:
        """Run it to its end; return what it printed."""
        with self.start(code, *arguments, **more) as process:
            said, errors = process.communicate()
        assert process.returncode == 0, errors
        return str(said)

    def encoded(self, **more: str) -> dict[str, Any]:
        """Encode in a process; return the bytes, and how many kernels it compiled."""
        found: dict[str, Any] = json.loads(self.run(ENCODE, "", **more))
        return found


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.mark.full
@needs_level
def test_a_pack_gives_the_same_bytes_and_nothing_is_compiled(place: Workplace) -> None:
    build = ("kernels", "build", "--codec", "tiny", "--into", place.packs, "--json")
    (built,) = json.loads(place.run(COMMAND, *build))["packs"]
    assert LEVEL is not None
    assert built["ran"]
    assert built["level"] == LEVEL.name
    assert built["kernels"] == 1
    without = place.encoded(cache="a", GANGSAW_KERNELS=pack_files.OFF)
    assert without["compiled"] == 1
    assert place.encoded(cache="b") == {**without, "compiled": 0}
    (place.folder / "tiny_codec" / "codec.py").write_text(f"{CODEC}# changed\n", encoding="ascii")
    assert place.encoded(cache="c") == without, "a pack is not trusted across a change"


@pytest.mark.full
def test_two_processes_compile_once(place: Workplace) -> None:
    """The second waits while the first compiles, and loads what that left."""
    off = {"GANGSAW_KERNELS": pack_files.OFF}
    with place.start(ENCODE, "first", **off) as first:
        assert first.stdout.readline() == "has its turn\n", first.stderr.read()
        with place.start(ENCODE, "second", **off) as second:
            assert second.stdout.readline() == "waits\n", second.stderr.read()
            found = [json.loads(process.communicate("\n")[0]) for process in (first, second)]
    assert [one["compiled"] for one in found] == [1, 0]
    assert found[0]["bytes"] == found[1]["bytes"]


def test_warm_compiles_before_anybody_waits(place: Workplace) -> None:
    off = {"GANGSAW_KERNELS": pack_files.OFF}
    assert place.run(COMMAND, "kernels", "warm", "--codec", "tiny", "--quiet", **off) == ""
    assert place.encoded(**off)["compiled"] == 0


@needs_level
def test_the_list_says_why_a_pack_is_not_used(
    gangsaw: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    able = levels.host_levels()
    missing = next(level for level in levels.LEVELS if level not in able)
    for level in (able[0], missing):
        packs.write(tmp_path / pack_files.file_name(level.name), level, [])
    (tmp_path / pack_files.file_name("x86-64-v4")).write_bytes(b"no pack")
    (tmp_path / "x86-64-v3-cp39-numba0.1.0-llvmlite0.1.0.pack").write_bytes(b"of other versions")
    monkeypatch.setenv(pack_files.FOLDERS, str(tmp_path))
    monkeypatch.delenv(levels.LEVEL, raising=False)
    levels.level_choice.cache_clear()
    found = gangsaw.ok("kernels", "list", "--json").figures
    levels.level_choice.cache_clear()
    assert found["level"] == able[0].name
    unused = {Path(pack["path"]).name: pack["unused"] for pack in found["packs"]}
    first = sorted(missing.features - levels.host_features())[0]
    expected = {
        pack_files.file_name(able[0].name): "",
        pack_files.file_name(missing.name): f"this processor has no {first}",
        pack_files.file_name("x86-64-v4"): "damaged, or made with other settings",
        "x86-64-v3-cp39-numba0.1.0-llvmlite0.1.0.pack": "of another Python, Numba or llvmlite",
    }
    assert {name: unused[name].split(",")[0] for name in expected} == {
        name: why.split(",")[0] for name, why in expected.items()
    }
