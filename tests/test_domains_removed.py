"""Copies of the package without some domains: what is left imports, and passes its tests."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import gangsaw
import gangsaw.cluster
import gangsaw.codecs
import gangsaw.tasks

DOMAINS = ("tcr", "search", "radio", "hyperspectral", "text")  # in the order of their removal
ALIASES = {"radio": ["append"]}  # folders of tasks/ that only repeat names of a domain
TESTS = Path(__file__).parent
LEFT = (  # tests of the rest; none starts a process, which would import the whole package
    "codecs/core/container",
    "codecs/core/nucleotides",
    "tasks/formats/test_attributes.py",
    "tasks/formats/test_byte_order.py",
    "tasks/formats/test_envi_pairs.py",
    "tasks/genomics/genomes/test_twobit.py",
    "tasks/store/arrays",
    "tasks/store/test_dims.py",
    "tasks/store/test_kinds.py",
    "tasks/store/test_tree.py",
)
# an editable installation finds its modules before those of the path
BEGIN = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if "gangsaw" not in type(f).__module__]
sys.path.insert(0, sys.argv[1])
"""
IMPORT_ALL = """
import importlib, pkgutil, gangsaw
assert gangsaw.__path__[0].startswith(sys.argv[1]), gangsaw.__path__
missing = lambda name: None
names = [m.name for m in pkgutil.walk_packages(gangsaw.__path__, "gangsaw.", onerror=missing)]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""


def _copy(site: Path, removed: tuple[str, ...]) -> Path:
    """Copy the package and its entry points without the removed domains."""
    ignore = shutil.ignore_patterns("__pycache__", "codecs", "tasks", "cluster", "kernels")
    shutil.copytree(Path(gangsaw.__file__).parent, site / "gangsaw", ignore=ignore)
    for part in (gangsaw.codecs, gangsaw.tasks, gangsaw.cluster):
        name = part.__name__.rpartition(".")[2]
        pycache = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(part.__file__).parent, site / "gangsaw" / name, ignore=pycache)
    for domain in removed:
        for folder in (domain, *ALIASES.get(domain, [])):
            shutil.rmtree(site / "gangsaw" / "tasks" / folder)
        (site / "gangsaw" / f"{domain}.py").unlink(missing_ok=True)
    info, whole = site / "gangsaw-0.dist-info", distribution("gangsaw")
    info.mkdir()
    (info / "METADATA").write_text(whole.read_text("METADATA") or "")
    gone = re.compile(rf"= *gangsaw\.tasks\.({'|'.join(removed)})\b")
    lines = (whole.read_text("entry_points.txt") or "").splitlines(keepends=True)
    (info / "entry_points.txt").write_text("".join(x for x in lines if not gone.search(x)))
    return site


def _run(site: Path, code: str, *arguments: str, cwd: Path) -> str:
    """Run Python code over a copy of the package; return what it printed."""
    command = [sys.executable, "-c", BEGIN + code, str(site), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.full
@pytest.mark.parametrize("n", range(1, len(DOMAINS) + 1), ids=DOMAINS)
def test_the_rest_imports_and_has_commands(tmp_path: Path, n: int) -> None:
    site = _copy(tmp_path / "site", DOMAINS[:n])
    assert int(_run(site, IMPORT_ALL, cwd=tmp_path)) > 400
    cli = "from gangsaw.cli import main; sys.argv = ['gangsaw', *sys.argv[2:]]; main()"
    shown = _run(site, cli, "--help", cwd=tmp_path)
    assert "compress" in shown
    assert not re.search(r"^\W*tcr\b", shown, re.MULTILINE)
    if n < len(DOMAINS):
        return
    (tmp_path / "a.raw").write_bytes(bytes(range(256)) * 64)
    raw = ("a.raw", "a.zarr", "--shape", "4,32,64", "--dtype", "uint16", "--workers", "0")
    _run(site, cli, "compress", *raw, cwd=tmp_path)
    _run(site, cli, "verify", "a.zarr", "--workers", "0", cwd=tmp_path)
    _run(site, cli, "decompress", "a.zarr", "b.raw", "--workers", "0", cwd=tmp_path)
    assert (tmp_path / "b.raw").read_bytes() == (tmp_path / "a.raw").read_bytes()


@pytest.mark.full
def test_the_rest_passes_its_tests_without_any_domain(tmp_path: Path) -> None:
    site = _copy(tmp_path / "site", DOMAINS)
    code = "import pytest; sys.exit(pytest.main(sys.argv[2:]))"
    folders = [str(TESTS / one) for one in LEFT]
    assert all(Path(one).exists() for one in folders)
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", str(TESTS.parent)]
    config = ["-c", str(TESTS.parent / "pyproject.toml")]
    said = _run(site, code, *options, *config, *folders, cwd=tmp_path)
    assert int(re.findall(r"(\d+) passed", said)[-1]) > 100, said
