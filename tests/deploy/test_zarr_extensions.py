"""Pages for the registry of Zarr's extensions: one per codec, as its specification says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zarr
from jsonschema import Draft202012Validator

from gangsaw.codecs.core import codec_table

PAGES = Path(__file__).parents[2] / "deploy" / "zarr-extensions"
NAMES = [
    name for name in codec_table.names() if codec_table.entry_of(name).value.startswith("gangsaw.")
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run([sys.executable, PAGES / "make.py", folder], check=True)
    return folder / "codecs"


def test_every_codec_has_its_page(made: Path) -> None:
    assert sorted(p.name for p in (PAGES / "codecs").iterdir()) == sorted(NAMES)
    assert sorted(p.name for p in made.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", ["README.md", "schema.json"])
def test_the_pages_are_those_of_the_specification(made: Path, name: str, file: str) -> None:
    assert (PAGES / "codecs" / name / file).read_text() == (made / name / file).read_text()


def validator(name: str) -> Draft202012Validator:
    """Of a codec's schema."""
    schema = json.loads((PAGES / "codecs" / name / "schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def examples(name: str) -> list[dict[str, Any]]:
    """The codec objects of a page."""
    page = (PAGES / "codecs" / name / "README.md").read_text()
    return [json.loads(found) for found in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_valid_and_others_not(name: str) -> None:
    check = validator(name)
    assert examples(name)
    for example in examples(name):
        check.validate(example)
        assert not check.is_valid({**example, "name": "gangsaw.other"})
        assert not check.is_valid({**example, "configuration": {"unheard_of": 1}})


@pytest.mark.parametrize("name", NAMES)
def test_all_parameters_are_named(name: str) -> None:
    whole = codec_table.named_class(name).from_dict({"name": name, "configuration": {}}).to_dict()
    check = validator(name)
    check.validate(whole)
    there = check.schema["properties"]["configuration"]["properties"]  # type: ignore[index,call-overload]
    assert there.keys() == whole["configuration"].keys()  # type: ignore[union-attr,index,call-overload]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_store_is_read(made: Path, name: str) -> None:
    store = made / name / "example.zarr"
    codecs = json.loads((store / "zarr.json").read_text())["codecs"]
    validator(name).validate(next(codec for codec in codecs if codec["name"] == name))
    assert zarr.open_array(store, mode="r")[...].size
