"""Tables of plugins: a broken one, or a second one of a name, leaves the others alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gangsaw.codecs.core.plugins.entry_points import (
    PluginWarning,
    find_entries,
    load_first,
    load_table,
)

GROUP = "gangsaw.test_tables"
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what installs a distribution with entries of GROUP."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(name: str, **lines: str) -> None:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        text = "\n".join(f"{entry} = {value}" for entry, value in lines.items())
        (folder / "entry_points.txt").write_text(f"[{GROUP}]\n{text}\n")

    return make


def test_what_can_be_imported_is_there(install: Install) -> None:
    install("good", one="math:pi")
    install("bad", two="no_such_module_at_all:x", three="math:no_such_name")
    with pytest.warns(PluginWarning) as seen:
        assert list(load_table(GROUP, float)) == ["one"]
    texts = sorted(str(warning.message) for warning in seen)
    assert len(texts) == 2
    assert all(" of bad (gangsaw.test_tables) is left out: " in text for text in texts)


def test_what_is_of_another_kind_is_left_out(install: Install) -> None:
    install("odd", one="math:floor")
    with pytest.warns(PluginWarning, match="TypeError: .* is no float"):
        assert load_table(GROUP, float) == {}


def test_entries_import_nothing(install: Install) -> None:
    install("lazy", one="antigravity:fly")
    assert list(find_entries(GROUP)) == ["one"]
    assert "antigravity" not in sys.modules


def test_of_two_with_one_name_ours_is_taken(install: Install) -> None:
    install("another", one="math:e")
    install("gangsaw", one="math:pi")
    with pytest.warns(PluginWarning, match="one of another .* gangsaw has one of this name"):
        assert load_first(find_entries(GROUP)["one"], float) == 3.141592653589793


def test_an_empty_group_is_an_empty_table() -> None:
    assert load_table("gangsaw.no_such_group", float) == {}
