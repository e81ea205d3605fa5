"""A page keeps the sections that are not measured again, and says where they were."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pages
import pytest
from pages import Page

from gangsaw.tasks.bench import table
from gangsaw.tasks.bench.table import Row

PAGE = Page("RESULTS-A.md", "# A\n", {"one": "First", "two": "Second"})


def at(machine: str, value: float, monkeypatch: pytest.MonkeyPatch, vectors: str = "") -> None:
    """Go to a machine where every section has a row of this value."""
    own = {"processor": machine, "zarr": "3", **({"vectors": vectors} if vectors else {})}
    for module in (pages, table):
        monkeypatch.setattr(module, "environment", lambda: own)
    for name in PAGE.sections:
        bench = SimpleNamespace(rows=lambda name=name: [Row(f"row of {name}", value, "s")])
        monkeypatch.setitem(sys.modules, f"bench_{name}", bench)


def test_sections_of_other_machines_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at("old", 1.5, monkeypatch)
    PAGE.write(tmp_path, ["one", "two"])
    assert "Measured with" not in (tmp_path / PAGE.file).read_text()
    at("new", 2.5, monkeypatch)
    PAGE.write(tmp_path, ["two"])
    head, first, second = (tmp_path / PAGE.file).read_text().split("## ")
    assert "processor new, zarr 3" in head
    assert "Measured with processor old\n" in first
    assert "row of one | 1.5 s" in first
    assert "Measured with" not in second
    assert "row of two | 2.5 s" in second
    written = json.loads((tmp_path / "results-a.json").read_text())
    assert written["elsewhere"] == {"First": {"processor": "old", "zarr": "3"}}
    at("newer", 3.5, monkeypatch)
    PAGE.write(tmp_path, ["one"])
    page = (tmp_path / PAGE.file).read_text()
    assert "Measured with processor old" not in page
    assert "Measured with processor new\n" in page


def test_figures_with_other_vectors_are_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at("wide", 1.5, monkeypatch, "AVX-512")
    PAGE.write(tmp_path, ["one", "two"])
    at("narrow", 2.5, monkeypatch, "AVX2")
    PAGE.write(tmp_path, ["one"])
    PAGE.write(tmp_path, ["one"])  # again with the same vectors: the column is not replaced
    _, first, second = (tmp_path / PAGE.file).read_text().split("## ")
    assert "remark | AVX-512 | met |" in first
    assert "The column AVX-512: processor wide, vectors AVX-512\n" in first
    assert "| row of one | 2.5 s |  |  |  | 1.5 s |  |" in first
    assert "remark |\n" in second
    at("wide", 3.5, monkeypatch, "AVX-512")
    PAGE.write(tmp_path, ["one", "two"])
    _, first, second = (tmp_path / PAGE.file).read_text().split("## ")
    assert "| row of one | 3.5 s |  |  |  | 2.5 s |  |" in first
    assert "The column AVX2: processor narrow" in first
    assert "remark |\n" in second


def test_a_row_that_is_new_has_no_figure_with_other_vectors() -> None:
    beside = table.OtherMachine({"vectors": "AVX-512"}, (Row("old", 2.0, "s", "<= 1"),))
    rows = [Row("old", 1.0, "s", "<= 1"), Row("new", 3.0, "s"), Row("old", 4.0, "s")]
    text = table.markdown_table("T", rows, "", beside)
    assert "| old | 1 s | <= 1 | yes |  | 2 s | **no** |" in text
    assert "| new | 3 s |  |  |  |  |  |" in text
    assert "| old | 4 s |  |  |  |  |  |" in text


def test_rows_of_one_name_are_told_apart_by_their_order() -> None:
    beside = table.OtherMachine(
        {"vectors": "AVX-512"}, (Row("peer", 2.0, "x"), Row("peer", 3.0, "x"))
    )
    text = table.markdown_table("T", [Row("peer", 4.0, "x"), Row("peer", 5.0, "x")], "", beside)
    assert "| peer | 4 x |  |  |  | 2 x |  |" in text
    assert "| peer | 5 x |  |  |  | 3 x |  |" in text
