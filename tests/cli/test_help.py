"""The help of every command: examples, help of each option, one wording, no contradictions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from helpers.command_line import CommandLine
from typer import rich_utils
from typer.testing import CliRunner

from gangsaw.cli.app import app
from gangsaw.cli.verbose import with_verbose

# options that mean something else in some commands
APART = {
    "--pgen",
    "--accept-loss",
    "--bit-depth",
    "--byte-order",
    "--codec",
    "--device",
    "--format",
    "--index",
    "--interleave",
    "--interleaved",
    "--nu",
    "--order",
    "--overwrite",
    "--pi",
    "--seed",
    "--species",
    "--variable",
}
DEFAULT = re.compile(r"\s*\(default: [^)]*\)")


def commands(found: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command with its path, those of groups, too."""
    found = typer.main.get_command(app) if found is None else found
    if not hasattr(found, "list_commands"):
        yield " ".join(path), found
        return
    context = typer.Context(found)
    for name in found.list_commands(context):
        yield from commands(found.get_command(context, name), (*path, name))


COMMANDS = dict(commands())
GIVEN = [
    pytest.param(name, command, id=name.replace(" ", "-")) for name, command in COMMANDS.items()
]


def is_nothing(default: object) -> bool:
    """Whether help shows no such default: 0 is one that it shows."""
    return default is None or default is False or default in ("", [], ())


def options(command: Any) -> list[Any]:
    return [one for one in command.params if one.param_type_name == "option"]


def test_all_are_walked() -> None:
    assert {"compress", "extract", "tcr count", "stream encode", "completion"} <= COMMANDS.keys()


@pytest.mark.parametrize(("name", "command"), GIVEN)
def test_there_is_an_example(name: str, command: Any) -> None:
    assert re.search(rf"Examples?: gangsaw {name}\b", command.help), command.help


@pytest.mark.parametrize(("name", "command"), GIVEN)
def test_everything_has_help(name: str, command: Any) -> None:
    for one in command.params:
        assert one.help, (name, one.name)
        assert one.help.rstrip()[-1] in ".)", (name, one.name, one.help)


@pytest.mark.parametrize(("name", "command"), GIVEN)
def test_defaults_agree_with_the_words(name: str, command: Any) -> None:
    """What says in words what is done without it shows no other default beside."""
    for one in options(command):
        says = bool(re.search(r"\(default:|\bunset\b|\bnot given\b", one.help))
        shows = bool(one.show_default) and not is_nothing(one.default)
        assert not (says and shows), (name, one.opts, one.help, one.default)


def test_an_option_has_one_wording() -> None:
    wordings: dict[str, set[str]] = defaultdict(set)
    for command in COMMANDS.values():
        for one in options(command):
            wordings[one.opts[0]].add(DEFAULT.sub("", one.help))
    several = {flag: texts for flag, texts in wordings.items() if len(texts) > 1}
    assert several.keys() <= APART, {f: several[f] for f in several.keys() - APART}


@pytest.mark.parametrize(("name", "command"), GIVEN)
def test_values_that_are_listed_are_taken(name: str, command: Any) -> None:
    """A default is one of the words that the help lists."""
    for one in options(command):
        words = (one.metavar or "").split("|")
        if len(words) > 1 and one.default is not None:
            assert any(is_of(one.default, word) for word in (*words, "")), (name, one.opts)


def is_of(value: object, word: str) -> bool:
    """Whether a value is the word, or lies in the range that it is, such as 0..255."""
    low, dots, high = word.partition("..")
    if dots and isinstance(value, int):
        return int(low) <= value <= int(high)
    return value == word


@pytest.mark.parametrize(("name", "command"), GIVEN)
def test_help_fits_into_80_columns(
    name: str, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", 80)
    text = CliRunner().invoke(app, [*name.split(), "--help"]).output
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text  # what is cut off


@pytest.mark.parametrize(("name", "command"), GIVEN)
def test_placeholders_are_words_for_people(name: str, command: Any) -> None:
    """N, X, PATH or NAME, not the type of the value."""
    for one in options(command):
        shown = "" if one.is_flag else one.metavar
        assert shown is not None, (name, one.opts)
        assert not re.match(r"(TEXT|INTEGER|FLOAT)\b", shown), (name, one.opts, shown)


def helped(*words: str) -> set[str]:
    """Return the options that a help shows at the beginning of a line of its panels."""
    text = CliRunner().invoke(app, list(words)).output
    return set(re.findall(r"^│ \*? *(--[\w-]+)", text, re.MULTILINE))


def test_short_help_leaves_out_formats_and_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", 200)
    short, everything = helped("compress", "--help"), helped("compress", "--help-all")
    flags = {one.opts[0] for one in options(COMMANDS["compress"])} | {"--help"}
    assert everything == flags
    assert everything - short >= {"--phred", "--shape", "--tls-key", "--variable"}
    assert short >= {"--codec", "--chunks", "--workers", "--format", "--resume", "--help-all"}
    text = CliRunner().invoke(app, ["compress", "--help"], prog_name="gangsaw").output
    number = len(everything - short)
    assert f"{number} more options (cluster, source): gangsaw compress --help-all" in text
    assert helped("compress", "--help-all") == everything  # nothing stays hidden
    assert helped("help", "compress") == everything


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fastq", ["FASTQ", "--phred", "--shard", "options of gangsaw decompress"]),
        ("miriad", ["not written", 'pip install "gangsaw[radio]"']),
        ("gangsaw.ccsds123", ["gangsaw.codecs.Ccsds123", "--bit-depth"]),
        ("kernels", ["build", "warm"]),
    ],
)
def test_help_of_a_name(gangsaw: CommandLine, name: str, words: list[str]) -> None:
    text = gangsaw.ok("help", name).out
    assert [word for word in words if word not in text] == []


def test_help_of_no_name_is_that_of_the_program(gangsaw: CommandLine) -> None:
    assert gangsaw.ok("help").out.split() == gangsaw.ok("--help").out.split()


def test_help_of_an_unknown_name(gangsaw: CommandLine) -> None:
    ran = gangsaw("help", "fastp")
    assert ran.code == 2
    assert "did you mean fasta or fastq?" in ran.err or "did you mean fastq" in ran.err


@pytest.mark.parametrize(("name", "command"), GIVEN)
def test_every_command_may_be_verbose(name: str, command: Any) -> None:
    (one,) = [one for one in command.params if "--verbose" in one.opts]
    assert one.opts == ["--verbose", "-v"]


def test_what_a_plugin_calls_its_options_stays() -> None:
    own = typer.Typer(add_completion=False)

    @own.command()
    def command(volume: int = typer.Option(1, "--volume", "-v", help="How loud.")) -> None:
        """Sing."""

    both = with_verbose(with_verbose(typer.main.get_command(own)))
    assert [one.opts for one in both.params][:2] == [["--volume", "-v"], ["--verbose"]]
    assert len([one for one in both.params if "--verbose" in one.opts]) == 1


def test_a_contradiction_is_found() -> None:
    """The rule above sees what it is for."""
    wrong = typer.Typer()

    @wrong.command()
    def command(
        workers: int = typer.Option(0, help="Workers; unset is one per core."),
    ) -> None:
        """Work."""

    with pytest.raises(AssertionError, match="unset"):
        test_defaults_agree_with_the_words("wrong", typer.main.get_command(wrong))
