"""The codec table: plugins come and fail by themselves, classes are derived, zarr alone reads."""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from helpers import plugins
from helpers.every_codec import (
    TESTS,
    Case,
    assert_same_bits,
    cases,
    codec_types,
    folder,
    over_codecs,
    v2_type,
)

from gangsaw import codecs
from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins.selection import ArrayFacts, Capabilities, Grade

first_cases = {case.codec_type: case for case in reversed(cases())}.values()
one_case = pytest.mark.parametrize("case", first_cases, ids=lambda case: folder(case.codec_type))


@over_codecs
def test_names_are_derived_from_the_table(codec_type: Any) -> None:
    name = codec_type.__name__
    assert getattr(codecs, name) is codec_type
    derived = getattr(codecs, f"{name}V2")
    assert derived is v2_type(codec_type)
    assert derived.codec_id == codec_type.codec_name
    assert {name, f"{name}V2"} <= set(dir(codecs))


def test_a_star_imports_the_codecs() -> None:
    found: dict[str, Any] = {}
    exec("from gangsaw.codecs import *", found)
    assert found.keys() - {"__builtins__"} == {
        name
        for kind in (*codec_types(), *codec_table.bytes_classes())
        for name in (kind.__name__, f"{kind.__name__}V2")
    }


def test_other_names_are_not_there() -> None:
    for name in ("Nope", "NopeV2", "V2V2", "_nope"):
        with pytest.raises(AttributeError, match=name):
            getattr(codecs, name)


@one_case
def test_the_derived_class_is_pickled_and_found_by_numcodecs(case: Case) -> None:
    place = {"shape": case.array.shape, "dtype": case.array.dtype}
    codec = v2_type(case.codec_type)(**place, **vars(case.sample.params))
    again = pickle.loads(pickle.dumps(codec))
    assert (type(again), again.get_config()) == (type(codec), codec.get_config())
    config = json.loads(json.dumps(codec.get_config()))
    assert type(numcodecs.get_codec(config)) is type(codec)


READ = """
import sys, numpy, zarr
numpy.save(sys.argv[2], zarr.open_array(sys.argv[1], mode="r")[...])
assert not [name for name in sys.modules if name.endswith(".selection") and "core" not in name]
"""


@pytest.mark.quick(cases=1)
@one_case
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_process_that_imports_only_zarr_reads(
    case: Case, zarr_format: Any, tmp_path: Path
) -> None:
    array, params = np.ascontiguousarray(case.array), vars(case.sample.params)
    place: dict[str, Any] = {"shape": array.shape, "dtype": array.dtype}
    codec: dict[str, Any] = {"serializer": case.codec, "compressors": None}
    if zarr_format == 2:
        codec = {"compressors": v2_type(case.codec_type)(**place, **params)}
    place |= {"chunks": array.shape, "zarr_format": zarr_format}
    zarr.create_array(tmp_path / "a.zarr", **place, **codec)[...] = array
    command = [sys.executable, "-c", READ, tmp_path / "a.zarr", tmp_path / "a.npy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert_same_bits(np.load(tmp_path / "a.npy"), array)


LOOK = """
import warnings; warnings.simplefilter("always")
from gangsaw.codecs.core import codec_table
print(*(kind.codec_name for kind in codec_table.classes()))
codec_table.capabilities(); codec_table.capabilities(); codec_table.classes()
import gangsaw.cli.app, gangsaw.codecs
gangsaw.codecs.Ccsds123
"""


def test_a_plugin_that_fails_is_left_out_with_one_warning(tmp_path: Path) -> None:
    modules = {"broken/__init__.py": "", "broken/codec.py": "import no_such_module\n"}
    modules["broken/selection.py"] = "1 / 0\n"
    entry = '"gangsaw.broken" = broken.codec:Broken'.replace('"', "")
    plugins.distribution(tmp_path, "broken-dist", entry, modules)
    done = plugins.run(LOOK, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [kind.codec_name for kind in codec_types()]
    assert done.stderr.count("Warning") == 1
    assert "gangsaw.broken of broken-dist (zarr.codecs) is left out" in done.stderr
    asked = "import gangsaw.codecs; gangsaw.codecs.Broken"
    assert "gangsaw.broken of broken-dist cannot be imported" in plugins.run(asked, tmp_path).stderr


def test_of_two_codecs_of_one_name_our_own_is_taken_with_one_warning(tmp_path: Path) -> None:
    entry = "gangsaw.ccsds123 = another.codec:Another"
    plugins.distribution(tmp_path, "another-dist", entry, {})
    done = plugins.run(LOOK, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [kind.codec_name for kind in codec_types()]
    assert done.stderr.count("Warning") == 1
    assert "gangsaw.ccsds123 of another-dist" in done.stderr
    assert "gangsaw has one of this name" in done.stderr


WRITE_AND_READ = """
import sys, numpy, zarr
import warnings; warnings.filterwarnings("error", "Codec .* not configured")
from gangsaw.cli import main

scene = numpy.arange(4 * 30 * 40, dtype="u2").reshape(4, 30, 40)

if __name__ == "__main__":
    import os; os.chdir({folder!r})
    zarr.create_group("in.zarr").create_array("a", data=scene, dimension_names=["band", "y", "x"])
    {before}
    for command in (
        ["compress", "in.zarr", "a.zarr", "--codec", "ccsds123", "--workers", {workers!r}],
        ["verify", "a.zarr", "--against", "in.zarr", "--workers", "0"],
        ["decompress", "a.zarr", "out.zarr", "--workers", "0"],
        ["info", "a.zarr"],
    ):
        assert main(command) == 0, command
    import gangsaw
    for array in (zarr.open_group("a.zarr", mode="r")["a"], gangsaw.open("a.zarr")["a"]):
        assert (numpy.asarray(array[...]) == scene).all()
    codec = zarr.open_group("a.zarr", mode="r")["a"].serializer
    assert type(codec).__module__.startswith("gangsaw."), type(codec)
"""
RIVAL = """
from zarr.abc.codec import ArrayBytesCodec

class Another(ArrayBytesCodec):
    pass
"""
LOADED = """import zarr.registry
    with warnings.catch_warnings(action="ignore"):
        zarr.registry.get_codec_class("gangsaw.ccsds123")
"""


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize(
    ("module", "before", "workers"),
    [
        ("import no_such_module", "pass", "0"),
        ("import no_such_module", "pass", "1"),
        (RIVAL, "pass", "0"),
        (RIVAL, LOADED, "0"),
    ],
    ids=["broken", "broken, in a worker", "sound", "loaded before"],
)
def test_zarr_takes_our_own_codec_of_two(
    tmp_path: Path, module: str, before: str, workers: str
) -> None:
    entry = "gangsaw.ccsds123 = another.codec:Another"
    files = {"another/__init__.py": "", "another/codec.py": module}
    plugins.distribution(tmp_path, "another-dist", entry, files)
    code = WRITE_AND_READ.format(folder=str(tmp_path), before=before, workers=workers)
    done = plugins.run(code, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_plugin_without_capabilities_is_chosen_on_request_alone(tmp_path: Path) -> None:
    facts = ArrayFacts("a", (3,), np.dtype("u1"), ("x",))
    assert Capabilities().grade(facts) == Grade.ON_REQUEST
    assert Capabilities().refusal(facts) is None


def test_capabilities_load_neither_zarr_nor_kernels() -> None:
    code = (
        "import sys; from gangsaw.codecs.core import codec_table; codec_table.capabilities(); "
        "print(*{'zarr', 'numba', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_long_and_a_short_name_are_one() -> None:
    for name in codec_table.table():
        assert (
            codec_table.full_name(name.removeprefix("gangsaw."))
            == codec_table.full_name(name)
            == name
        )


OUR_HELP = "import sys; from gangsaw.cli import main; sys.exit(main(['--help']))"
SMALL_HELP = """
import typer
app = typer.Typer()
@app.command()
def wave(times: int = 1): "Wave."
@app.command()
def flag(times: int = 1): "Flag."
app(["--help"])
"""
WAITS = """
import sys, time
events = {"socket.getaddrinfo", "socket.connect", "subprocess.Popen", "os.fork", "os.posix_spawn"}
waits, sleep = [], time.sleep
sys.addaudithook(lambda event, _: waits.append(event) if event in events else None)
time.sleep = lambda seconds: (waits.append("time.sleep"), sleep(seconds))
from gangsaw.cli import main
main(["--help"])
print("waits:", *waits)
"""


@pytest.mark.full
def test_help_is_little_work() -> None:
    """Less than five times that of two empty commands, of which it takes two and a half."""

    def processor_seconds(code: str) -> float:
        began = os.times()
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return sum(os.times()[2:4]) - sum(began[2:4])  # user and system time of children

    pairs = [(processor_seconds(OUR_HELP), processor_seconds(SMALL_HELP)) for _ in range(5)]
    ours, small = (min(several) for several in zip(*pairs, strict=True))
    assert ours < 5 * small


def test_help_waits_for_nothing() -> None:
    """It opens no connection, starts no process and does not sleep."""
    done = subprocess.run([sys.executable, "-c", WAITS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["waits:"]


NAMES = {name.rpartition(".")[2] for name in codec_table.table()}
OPTIONS = {option.name for of in codec_table.capabilities().values() for option in of.options}
ASK = ("tasks/engine", "tasks/store", "tasks/jobs", "tasks/console", "tasks/bench", "src/gangsaw")


API = ("arguments", "compression", "functions", "verification")


@pytest.mark.parametrize("part", [*ASK, *(f"tasks/api/{name}.py" for name in API)])
def test_who_asks_names_no_codec(part: str) -> None:
    """No import of a codec, no Zarr name and no option of one, but in docstrings."""
    place = TESTS.parent / part
    for path in sorted(place.rglob("*.py")) or [place]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                package, *inner = str(node.module).split(".")[1:] or [""]
                assert package != "codecs" or not NAMES & set(inner), path
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value.removeprefix("gangsaw.") not in NAMES | OPTIONS, path
            if isinstance(node, ast.arg):
                assert node.arg not in OPTIONS, path
