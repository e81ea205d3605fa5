"""Pages of our codecs for the registry of Zarr's extensions, from their specifications.

    python deploy/zarr-extensions/make.py FOLDER

FOLDER gets one folder per codec, in the form of https://github.com/zarr-developers/zarr-extensions:
README.md, schema.json, format.md (the bytes) and an example store. Without FOLDER the pages in
`codecs/`, next to this file, are written again: README.md and schema.json of each codec. Nothing
was submitted, as the registry licenses its pages under CC BY 3.0.
"""

import argparse
import json
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import zarr

from gangsaw.codecs.core import codec_table

HERE = Path(__file__).parent
SECTIONS = ("", "Codec name", "Data types", "Configuration parameters", "Example")
DRAFT = "https://json-schema.org/draft/2020-12/schema"
JSON_TYPES = {"integer", "string", "boolean", "object"}
LAST = """## Format and algorithm

Bit by bit in [format.md](format.md).

## Change log

No changes yet.

## Current maintainers

* The Gangsaw developers
"""


def spec(name: str) -> str:
    """Return the specification of a codec of the table."""
    found = find_spec(codec_table.package(name))
    assert found is not None
    assert found.submodule_search_locations is not None
    return (Path(found.submodule_search_locations[0]) / "SPEC").with_suffix(".md").read_text()


def sections(text: str) -> dict[str, str]:
    """Return the sections of a page by their titles; "" is what stands above the first."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    return {"": parts[0], **{part[3 : part.index("\n")]: part for part in parts[1:]}}


def readme(name: str) -> str:
    """Return the page of a codec."""
    there = sections(spec(name))
    return "".join(there[title] for title in SECTIONS if title in there) + LAST


def schema(name: str) -> dict[str, object]:
    """Return the JSON schema of a codec object: types of its parameters, and words they take."""
    page = sections(spec(name))["Configuration parameters"]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ([^|]+) \| ([^|]+) \|", page, re.MULTILINE)
    properties = {
        parameter: _value(kind.strip(), legal)
        for names, kind, legal in rows
        for parameter in re.findall(r"`(\w+)`", names)
    }
    configuration = {"type": "object", "properties": properties, "additionalProperties": False}
    return {
        "$schema": DRAFT,
        "type": "object",
        "properties": {"name": {"const": name}, "configuration": configuration},
        "required": ["name"],
        "additionalProperties": False,
    }


def _value(kind: str, legal: str) -> dict[str, object]:
    """Return the schema of a row: {} where its type is none of JSON's."""
    words = re.fullmatch(r"(`[\w-]+`(?:, | or )?)+ *", legal)
    if kind == "string" and words:
        return {"enum": re.findall(r"`([\w-]+)`", legal)}
    if kind in JSON_TYPES:
        return {"type": kind}
    is_list = kind == "list of strings" or re.fullmatch(r"\w+ integers", kind)
    return {"type": "array"} if is_list else {}


def example(name: str, folder: Path) -> None:
    """Write a store of the smallest array among the codec's samples."""
    samples = import_module(f"{codec_table.package(name)}.samples").samples()
    filled = [sample for sample in samples if sample.array.size and sample.array.ndim]
    sample = min(filled, key=lambda one: one.array.nbytes)
    codec = codec_table.named_class(name).from_dict(
        {"name": name, "configuration": sample.params.to_dict()}
    )
    ends = name in codec_table.bytes_table()
    how = {"compressors": codec} if ends else {"serializer": codec, "compressors": None}
    zarr.create_array(folder, data=sample.array, chunks=sample.array.shape, **how)


def write(folder: Path, *, whole: bool) -> None:
    """Write the pages of all codecs of this distribution."""
    for name in codec_table.names():
        if codec_table.entry_of(name).dist.name == "gangsaw":
            place = folder / "codecs" / name
            place.mkdir(parents=True, exist_ok=True)
            (place / "README.md").write_text(readme(name))
            (place / "schema.json").write_text(json.dumps(schema(name), indent=2) + "\n")
            if whole:
                (place / "format.md").write_text(spec(name))
                example(name, place / "example.zarr")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    given = parser.parse_args().folder
    write(given or HERE, whole=given is not None)
