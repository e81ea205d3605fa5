"""Docstrings of the public names: their numpydoc sections, and examples that run."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate

import gangsaw
from gangsaw.codecs.core.codec_table import named_class, names

PACKAGES = (
    "gangsaw",
    "gangsaw.align",
    "gangsaw.cluster",
    "gangsaw.codecs",
    "gangsaw.codecs.ccsds123",
    "gangsaw.codecs.visibility",
    "gangsaw.genomes",
    "gangsaw.reads",
    "gangsaw.search",
    "gangsaw.tasks.append",
    "gangsaw.tcr",
    "gangsaw.xarray",
)
CHECKS_LEFT_OUT = {
    "ES01": "a summary may be complete, without an extended one",
    "EX01": "methods need no example; `test_a_name_has_examples` asks for those of names",
    "GL01": "the summary is on the line of the opening quotes, as in PEP 257 and in other files",
    "GL02": "a docstring of one line has its closing quotes there",
    "SA01": "a name may have no related one",
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@cache
def public_objects() -> dict[str, object]:
    """Public objects by their names; the first name of those that have several."""
    found: dict[int, tuple[str, object]] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            if name != "__version__":  # a string
                found.setdefault(id(of := getattr(module, name)), (f"{package}.{name}", of))
    return {name: of for name, of in found.values() if is_ours(of)}


def is_ours(found: object) -> bool:
    """Return False for codecs of other distributions, whose docstrings are theirs."""
    module = getattr(getattr(found, "codec_type", found), "__module__", "gangsaw")
    return str(module).startswith("gangsaw.")


def our_codecs() -> list[str]:
    """Return the Zarr names of the package's own codecs."""
    return [name for name in sorted(names()) if is_ours(named_class(name))]


def members(name: str, kind: type) -> Iterator[str]:
    """Yield the public methods and properties that a class defines.

    Methods that a base class has, too, belong to a contract, which the base class documents.
    """
    for member, value in vars(kind).items():
        function = getattr(value, "__func__", value)
        if (
            not member.startswith("_")
            and (inspect.isfunction(function) or isinstance(value, property | cached_property))
            and not any(member in vars(base) for base in kind.__mro__[1:])
        ):
            yield f"{name}.{member}"


NAMES = tuple(public_objects())


def problems(name: str) -> list[str]:
    """Return a line for each check that a docstring fails."""
    return [
        f"{name}: {code} {text}"
        for code, text in validate(name)["errors"]
        if code not in CHECKS_LEFT_OUT
    ]


def test_each_public_module_is_checked() -> None:
    modules = {f"gangsaw.{name}" for name in gangsaw._DOMAINS}
    assert modules <= set(PACKAGES)
    assert len(NAMES) > 90


@pytest.mark.quick(cases=len(NAMES))
@pytest.mark.parametrize("name", NAMES)
def test_numpydoc_accepts(name: str) -> None:
    kind = public_objects()[name]
    inner = list(members(name, kind)) if isinstance(kind, type) else []
    assert [line for one in (name, *inner) for line in problems(one)] == []


@pytest.mark.quick(cases=len(NAMES))
@pytest.mark.parametrize("name", NAMES)
def test_a_name_has_examples(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One block of them, which doctest runs in an empty folder."""
    text = inspect.getdoc(public_objects()[name]) or ""
    assert text.count("Examples\n--------\n") == 1
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert test.examples
    result = doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test)
    assert result.failed == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", ["ccsds123", "visibility"])
def test_a_codec_and_its_params_have_one_description(name: str) -> None:
    codec = named_class(f"gangsaw.{name}")
    params = import_module(f"gangsaw.codecs.{name}").Params
    of_codec, of_params = (ClassDoc(kind)["Parameters"] for kind in (codec, params))
    assert of_codec == of_params
    assert of_params


@pytest.mark.quick(cases=len(our_codecs()))
@pytest.mark.parametrize("codec", our_codecs())
def test_defaults_of_a_codec_are_stated(codec: str) -> None:
    """Each parameter with a default states it; "optional" stands for None."""
    kind = named_class(codec)
    described = {
        name.strip(): parameter.type
        for parameter in ClassDoc(kind)["Parameters"]
        for name in parameter.name.split(",")
    }
    defaults = {p.name: p.default for p in inspect.signature(kind).parameters.values()}
    assert described.keys() == defaults.keys()
    for name, default in defaults.items():
        stated = described[name].partition("default ")[2]
        if default is None:
            assert described[name].endswith("optional")
        else:
            assert repr(default) in stated.replace('"', "'").split(" and "), name


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Return a.\n\n    Parameters\n    ----------\n    a : int\n        A number.", "RT01"),
        ("Return a.\n\n    Returns\n    -------\n    int\n        A number.", "PR01"),
        ("Returns a.", "SS05"),
    ],
)
def test_a_missing_section_is_found(text: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(a: int) -> int:
        return a

    function.__doc__ = text
    monkeypatch.setattr(gangsaw, "info", function)
    assert code in {line.split()[1] for line in problems("gangsaw.info")}
