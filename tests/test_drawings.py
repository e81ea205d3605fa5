"""Pictures of the documentation are those that their code draws."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

DOCS = Path(__file__).parents[1] / "docs"


def drawings() -> ModuleType:
    """Import `docs/_make/drawings.py`."""
    path = DOCS / "_make" / "drawings.py"
    spec = importlib.util.spec_from_file_location("drawings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_what_the_code_draws() -> None:
    drawn = {name: draw() for name, draw in drawings().DRAWINGS.items()}
    assert "blocks.svg" in drawn
    for name, text in drawn.items():
        assert (DOCS / "_static" / "pictures" / name).read_text() == text, (
            f"{name}: run python docs/_make/drawings.py"
        )
        title = ElementTree.fromstring(text).find("{http://www.w3.org/2000/svg}title")
        assert title is not None
        assert title.text
