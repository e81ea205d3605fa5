"""CUDA sources as text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gangsaw.codecs.core.cuda import sources as kernels


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "sawn_kernels"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "gpu.cu").write_text('#include "a.cuh"\n#include "b.cuh"\nint gpu;\n')
    (folder / "a.cuh").write_text("int a;\n")
    (folder / "b.cuh").write_text('#include "a.cuh"\nint b;\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sawn_kernels", raising=False)
    return "sawn_kernels"


def test_headers_are_put_in_once(package: str) -> None:
    assert kernels.source(package, "gpu.cu").split() == ["int", "a;", "int", "b;", "int", "gpu;"]


def test_headers_of_folders_above_and_beside(package: str, tmp_path: Path) -> None:
    """Seen from the folder of the source, then from those above; each once by whatever name."""
    for folder in ("inner", "other"):
        (tmp_path / package / folder).mkdir()
        (tmp_path / package / folder / "__init__.py").write_text("")
    (tmp_path / package / "other" / "c.cuh").write_text('#include "d.cuh"\n#include "a.cuh"\n')
    (tmp_path / package / "other" / "d.cuh").write_text("int d;\n")
    (tmp_path / package / "inner" / "a.cuh").write_text("int own;\n")
    text = '#include "a.cuh"\n#include "other/c.cuh"\n#include "other/d.cuh"\nint gpu;\n'
    (tmp_path / package / "inner" / "gpu.cu").write_text(text)
    expected = ["own;", "d;", "a;", "gpu;"]
    assert kernels.source(f"{package}.inner", "gpu.cu").split()[1::2] == expected
    assert kernels.source(package, "inner/gpu.cu") == kernels.source(f"{package}.inner", "gpu.cu")


def test_a_missing_header_is_named(package: str, tmp_path: Path) -> None:
    (tmp_path / package / "lost.cu").write_text('#include "nowhere.cuh"\n')
    with pytest.raises(FileNotFoundError, match=r"nowhere\.cuh"):
        kernels.source(package, "lost.cu")


def test_options_are_in_one_order() -> None:
    assert kernels.options({"B": 2, "A": "int"}) == ("-std=c++17", "-DA=int", "-DB=2")
