"""A plugin that is wrong in itself costs one warning: every command works without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import plugins

CAPABILITIES = """
from gangsaw.codecs.core.plugins.selection import Capabilities, Grade

class Faulty(Capabilities):
    {}

CAPABILITIES = Faulty()
"""
CODECS = {
    "no capabilities": "CAPABILITIES = 5",
    "no options": CAPABILITIES.format("options = (5,)"),
    "no grade": CAPABILITIES.format("def grade(self, array): return 'well'"),
    "grade": CAPABILITIES.format("def grade(self, array): raise RuntimeError('faulty')"),
    "refusal": CAPABILITIES.format("def refusal(self, array): raise RuntimeError('faulty')"),
    "companion": CAPABILITIES.format("def companion(self, array): raise RuntimeError('faulty')"),
    "exit": "import sys; sys.exit(3)",
}
FORMAT = """
from gangsaw.tasks.formats.contract.format import Format, Sure

def fail(look):
    raise RuntimeError("faulty")

FAULTY = Format(name={name!r}, title="Faulty", about="", sure={sure}, open=fail)
"""
FORMATS = {
    "sure": FORMAT.format(name="faulty", sure="fail"),
    "not sure": FORMAT.format(name="faulty", sure="lambda _: 'very'"),
    "name": FORMAT.format(name="zarr", sure="lambda _: Sure.EXACTLY"),
    "no format": "FAULTY = 5",
    "exit": "import sys; sys.exit(3)",
}
RUN = """
import os, numpy, zarr
from gangsaw.cli import main

os.chdir({folder!r})
group = zarr.create_group("in.zarr")
for name, dtype in (("a", "u2"), ("b", "f4")):
    values = numpy.arange(4 * 30 * 40, dtype=dtype).reshape(4, 30, 40)
    group.create_array(name, data=values, dimension_names=["band", "y", "x"])
for command in (["--help"], ["compress", "in.zarr", "a.zarr", "--workers", "0"]):
    assert main(command) == 0, command
"""


def check(tmp_path: Path, told: str) -> None:
    done = plugins.run(RUN.format(folder=str(tmp_path)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.lower().count("warning") == 1, done.stderr
    assert told in " ".join(done.stderr.split())


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("selection", CODECS.values(), ids=CODECS)
def test_a_faulty_codec(tmp_path: Path, selection: str) -> None:
    modules = {"faulty/__init__.py": "", "faulty/selection.py": selection}
    entry = "gangsaw.faulty = faulty.codec:Faulty"
    plugins.distribution(tmp_path, "faulty-dist", entry, modules)
    check(tmp_path, "gangsaw.faulty of faulty-dist (zarr.codecs) is left out")


@pytest.mark.full
@pytest.mark.parametrize("module", FORMATS.values(), ids=FORMATS)
def test_a_faulty_format(tmp_path: Path, module: str) -> None:
    modules, entry = {"faulty.py": module}, "faulty = faulty:FAULTY"
    plugins.distribution(tmp_path, "faulty-dist", entry, modules, "gangsaw.formats")
    check(tmp_path, "faulty of faulty-dist (gangsaw.formats) is left out")


def test_a_codec_that_cannot_be_imported_is_refused_by_name(tmp_path: Path) -> None:
    entry = "gangsaw.faulty = faulty.codec:Faulty"
    modules = {"faulty/__init__.py": "raise ImportError('boom')"}
    plugins.distribution(tmp_path, "faulty-dist", entry, modules)
    named = RUN.replace('"0"]):', '"0", "--codec", "faulty"])[1:]:').replace("== 0", "== 2")
    done = plugins.run(named.format(folder=str(tmp_path)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gangsaw.faulty of faulty-dist cannot be imported" in " ".join(done.stderr.split())


GOOD = """
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.codecs.dna.params import Params

class Good(BlockCodec):
    codec_name, params_type = "gangsaw.twice", Params
"""
TWICE = {  # what a distribution brings that names a codec and comes before a sound one
    "no module": {},
    "broken class": {"bad/__init__.py": "", "bad/codec.py": "raise ImportError('boom')"},
    "no codec": {"bad/__init__.py": "", "bad/codec.py": "class Bad: pass"},
}
ASK = """
import sys, gangsaw, gangsaw.codecs
from gangsaw.codecs.core import codec_table
assert "gangsaw.twice" in codec_table.table()
assert not {"bad", "sound"} & set(sys.modules)
twice = codec_table.capabilities_of("gangsaw.twice")
assert [option.name for option in twice.options] == ["twice_block"]
"""
IS_LAZY = "assert 'sound.codec' not in sys.modules\n"
IS_SOUND = """
assert gangsaw.codecs.Good is codec_table.codec_class("gangsaw.twice")
assert "Bad" not in dir(gangsaw.codecs)
import zarr.registry
assert zarr.registry.get_codec_class("gangsaw.twice") is gangsaw.codecs.Good
"""
OPTIONS = """
from gangsaw.codecs.core.plugins.options import Option
from gangsaw.codecs.core.plugins.selection import Capabilities
class Sound(Capabilities):
    options = (Option("twice_block", "Block."),)
CAPABILITIES = Sound()
"""


@pytest.mark.parametrize("broken", TWICE)
def test_of_two_codecs_of_one_name_the_first_that_can_be_loaded(
    tmp_path: Path, broken: str
) -> None:
    sound = {"sound/__init__.py": "", "sound/codec.py": GOOD, "sound/selection.py": OPTIONS}
    plugins.distribution(tmp_path, "bad-dist", "gangsaw.twice = bad.codec:Bad", TWICE[broken])
    plugins.distribution(tmp_path, "sound-dist", "gangsaw.twice = sound.codec:Good", sound)
    lazy = IS_LAZY if broken == "no module" else ""
    done = plugins.run(ASK + lazy + IS_SOUND, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Warning:") == 1, done.stderr
    assert "gangsaw.twice of bad-dist (zarr.codecs) is left out" in done.stderr


FORMATS_TWICE = """
from gangsaw.cli import main
from gangsaw.tasks.formats.contract import table

assert table.formats()["twice"].title == "Sound"
assert table.rate_confidence(table.formats()["twice"], None)
assert main(["twice"]) == 0
assert main(["--help"]) == 0
"""
SOUND = """
import typer
from gangsaw.tasks.formats.contract.format import Format, Sure
TWICE = Format(name="twice", title="Sound", about="", sure=lambda _: Sure.EXACTLY, open=print)
def twice() -> None:
    typer.echo("twice")
"""


def test_of_two_formats_or_commands_the_first_that_can_be_loaded(tmp_path: Path) -> None:
    extra = "\n[gangsaw.commands]\ntwice = {}:twice"
    for name, module in (("bad", {}), ("sound", {"sound.py": SOUND})):
        entry = f"twice = {name}:TWICE" + extra.format(name)
        plugins.distribution(tmp_path, f"{name}-dist", entry, module, "gangsaw.formats")
    done = plugins.run(FORMATS_TWICE, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("twice")
    for group in ("gangsaw.formats", "gangsaw.commands"):
        assert f"twice of bad-dist ({group}) is left out: ModuleNotFound" in done.stderr
    assert done.stderr.lower().count("warning:") == 2, done.stderr
