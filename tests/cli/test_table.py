"""The commands of domains come from a table: found by name, loaded late, broken ones left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = "import sys; from gangsaw.cli import main; code = main(); {after}; sys.exit(code)"
HEAVY = ("dask", "distributed", "matplotlib", "numba", "numpy", "pyarrow", "xarray", "zarr")
COMMAND = '''
import typer

def wave(times: int = 1) -> None:
    """Wave.\\n\\nExample: gangsaw wave --times 2"""
    typer.echo("wave " * times)

app = typer.Typer(help="Many waves.")
app.command()(wave)
'''


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """A folder with a distribution whose commands work, but for one."""
    info = tmp_path / "waves-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: waves\nVersion: 1.0\n")
    lines = ("wave = waves:wave", "waves = waves:app", "broken = no_module:app", "demo = waves:app")
    (info / "entry_points.txt").write_text("\n".join(["[gangsaw.commands]", *lines]))
    (tmp_path / "waves.py").write_text(COMMAND)
    return tmp_path


def ran(*args: str, path: Path | None = None, after: str = "") -> subprocess.CompletedProcess[str]:
    found = os.pathsep.join([*([] if path is None else [str(path)]), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", RUN.format(after=after or "None"), *args],
        env={**os.environ, "PYTHONPATH": found, "COLUMNS": "100", "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_loads_nothing_heavy() -> None:
    after = f"print('loaded:', *set({HEAVY}) & set(sys.modules))"
    done = ran("--help", after=after)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]
    for name in ("compress", "demo", "stream", "tcr"):
        assert f" {name} " in done.stdout


def test_a_command_loads_no_other_domain() -> None:
    after = "print(*(name for name in sys.modules if '.commands' in name and '.cli.' not in name))"
    done = ran("compress", "--help", after=after)
    assert done.stdout.splitlines()[-1].split() == []
    done = ran("stream", "--help", after=after)
    assert set(done.stdout.splitlines()[-1].split()) == {
        "gangsaw.tasks.hyperspectral.commands",
        "gangsaw.tasks.hyperspectral.commands.stream",
    }


def test_commands_of_others_are_found(plugins: Path) -> None:
    for args in (("wave", "--times", "2"), ("waves", "wave", "--times", "2")):
        done = ran(*args, path=plugins)
        assert done.stdout.strip() == "wave wave", done.stderr
        assert (done.returncode, done.stderr.count("\n")) == (0, 1)  # of demo, the name of ours


def test_a_broken_one_is_told_in_a_line_and_the_rest_works(plugins: Path) -> None:
    done = ran("--help", path=plugins)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert len(lines) == 2, lines
    assert lines[0].startswith("gangsaw: warning: demo of waves (gangsaw.commands) is left out")
    assert lines[1].startswith("gangsaw: warning: broken of waves (gangsaw.commands) is left out")
    assert "Make a scene" in done.stdout
    assert "Many waves" in done.stdout
    assert "broken" not in done.stdout
    assert ran("compress", "--help", path=plugins).stderr == ""
    assert ran("broken", path=plugins).returncode == 2


SHORT = """
def short() -> None:
    \"\"\"End too early, as a library does whose file is cut off.\"\"\"
    raise EOFError("no more of a.dat")
"""


def test_an_end_of_file_that_comes_too_early_is_no_interrupt(plugins: Path) -> None:
    """Typer takes an EOFError of a command for Ctrl-D at a prompt: code 130, "interrupted"."""
    (plugins / "waves-1.0.dist-info" / "entry_points.txt").write_text(
        "[gangsaw.commands]\nshort = short:short\nshorts = short:app\n"
    )
    group = "import typer\napp = typer.Typer()\napp.command()(short)\n"
    (plugins / "short.py").write_text(SHORT + group)
    for args in (["short"], ["shorts", "short"]):
        done = ran(*args, path=plugins)
        said = "gangsaw: what is read ends too early: no more of a.dat (--traceback shows where)\n"
        assert (done.returncode, done.stderr) == (1, said)
