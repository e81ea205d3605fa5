"""What type checkers know of `gangsaw.codecs`: the classes of the table, which the stub names."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import gangsaw

ROOT = Path(__file__).parents[1]
STUB = ast.parse((ROOT / "codecs/__init__.pyi").read_text())
ENTRIES = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]


def test_the_stub_names_the_codecs_of_the_table() -> None:
    imports = [node for node in STUB.body if isinstance(node, ast.ImportFrom)]
    found = {
        f"{node.module}:{name.name}": name.asname
        for node in imports
        for name in node.names
        if node.module != "gangsaw.codecs.core.zarr.v2"
    }
    assert found == {entry: entry.partition(":")[2] for entry in ENTRIES["zarr.codecs"].values()}


def test_the_stub_has_the_classes_of_zarr_v2() -> None:
    bases = {
        f"gangsaw.codecs:{node.name}": [ast.unparse(base) for base in node.bases]
        for node in STUB.body
        if isinstance(node, ast.ClassDef)
    }
    of_bytes = {f"{entry}V2" for entry in ENTRIES["gangsaw.bytes_codecs"].values()}
    assert bases == {
        entry: ["BytesCodecV2" if of_class(entry) in map(of_class, of_bytes) else "BlockCodecV2"]
        for entry in ENTRIES["numcodecs.codecs"].values()
    }


FACE = ast.parse((ROOT / "src/gangsaw/__init__.py").read_text())


def test_type_checkers_are_told_all_public_names() -> None:
    """What `__getattr__` gives at run time stands under TYPE_CHECKING as well."""
    told = next(node for node in FACE.body if isinstance(node, ast.If))
    imports = [one for node in told.body if isinstance(node, ast.ImportFrom) for one in node.names]
    found = {one.asname or one.name for one in imports}
    assert found - {"version"} >= {*gangsaw.__all__, *gangsaw._DOMAINS, "codecs"} - {"__version__"}
    homes = {"gangsaw.tasks.tcr": gangsaw.tcr, "gangsaw.tasks.genomics.align": gangsaw.align}
    for name_of_home, module in homes.items():
        home = sys.modules[name_of_home]
        assert sorted(module.__all__) == sorted(home.__all__)
        assert all(getattr(module, name) is getattr(home, name) for name in module.__all__)


def of_class(entry: str) -> str:
    """The name of the class that an entry point is of."""
    return entry.partition(":")[2]


LINES = """\
import gangsaw
from gangsaw import codecs as of
reveal_type((gangsaw.codecs.Dna(), gangsaw.codecs.Reads()))
one = (of.Bwt(), of.Ccsds123(), of.Dna(), of.Reads(), of.Scaled(), of.Strings(), of.Visibility())
reveal_type(one)
v2 = (of.BwtV2(), of.Ccsds123V2(), of.DnaV2(), of.ReadsV2(), of.ScaledV2(), of.StringsV2())
reveal_type((*v2, of.VisibilityV2()))
"""
# only what the types are made of is read: all that a codec imports would take half a minute
CONFIG = """\
[mypy]
follow_imports = skip
[mypy-gangsaw,gangsaw.codecs,gangsaw.codecs.*.codec,gangsaw.codecs.core.zarr.*]
follow_imports = silent
"""


def test_type_checkers_see_the_classes(tmp_path: Path) -> None:
    if find_spec("mypy") is None:
        pytest.skip("mypy is missing: it is of the extra dev")
    package = tmp_path / "gangsaw"
    package.mkdir()
    for path in [*(ROOT / "src/gangsaw").glob("*.py"), ROOT / "codecs"]:
        (package / path.name).symlink_to(path)
    (tmp_path / "lines.py").write_text(LINES)
    (tmp_path / "mypy.ini").write_text(CONFIG)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "lines.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    names = ("Bwt", "Ccsds123", "Dna", "Reads", "Scaled", "Strings", "Visibility")
    homes = ", ".join(f"gangsaw.codecs.{name.lower()}.codec.{name}" for name in names)
    derived = ", ".join(f"gangsaw.codecs.{name}V2" for name in names)
    shown = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    assert "gangsaw.codecs.dna.codec.Dna, gangsaw.codecs.reads.codec.Reads" in shown[0]
    assert homes in shown[1]
    assert derived in shown[2]
