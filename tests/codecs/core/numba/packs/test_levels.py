"""Which level of instructions holds: what Numba is told, GANGSAW_LEVEL, then packs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import llvmlite.binding as llvm
import numba
import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba import jit
from gangsaw.codecs.core.numba.packs import compiling, levels, pack_files
from gangsaw.codecs.core.numba.packs.levels import LEVELS, Level, LevelChoice, level_named

Chosen = Callable[..., LevelChoice]


@pytest.fixture(autouse=True)
def _nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(levels.LEVEL, raising=False)
    monkeypatch.setattr(numba.config, "CPU_NAME", None)
    monkeypatch.setattr(numba.config, "CPU_FEATURES", None)
    yield
    levels.level_choice.cache_clear()


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Chosen:
    """Return what is chosen on a processor of one level, with packs of others there."""

    def choose(processor: str, *there: str) -> LevelChoice:
        has = level_named(processor).features | {"sse4a"}
        monkeypatch.setattr(levels, "host_features", lambda: has)
        monkeypatch.setattr(pack_files, "package_folder", lambda: tmp_path)
        for name in there:
            (tmp_path / pack_files.file_name(name)).touch()
        levels.level_choice.cache_clear()
        return levels.level_choice()

    return choose


def name(choice: LevelChoice) -> str:
    return choice.level.name if choice.level else "host"


@pytest.mark.parametrize(
    ("processor", "there", "expected"),
    [
        ("x86-64-v3", (), "host"),
        ("x86-64-v3", ("x86-64-v3",), "x86-64-v3"),
        ("x86-64-v3", ("x86-64-v3-gfni", "x86-64-v4"), "host"),  # instructions that it has not
        ("x86-64-v3-vpclmul", ("x86-64-v3", "x86-64-v3-vpclmul"), "x86-64-v3-vpclmul"),
        ("x86-64-v3-gfni", ("x86-64-v3",), "x86-64-v3"),
        ("x86-64-v4-gfni", ("x86-64-v4",), "x86-64-v4"),
        ("x86-64-v4-gfni", ("x86-64-v3-gfni",), "host"),  # half as wide: slower for ever
        ("aarch64", ("aarch64",), "aarch64"),
    ],
)
def test_the_best_level_that_a_pack_is_there_for(
    processor: str, there: tuple[str, ...], expected: str, chosen: Chosen
) -> None:
    choice = chosen(processor, *there)
    assert name(choice) == expected
    assert (choice.pack is None) == (expected == "host")


def test_a_narrow_pack_is_offered(chosen: Chosen) -> None:
    assert "GANGSAW_LEVEL=x86-64-v3 selects" in chosen("x86-64-v4", "x86-64-v3").why


def test_the_users_level_holds(chosen: Chosen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(levels.LEVEL, "x86-64-v3")
    choice = chosen("x86-64-v4", "x86-64-v4")
    assert name(choice) == "x86-64-v3"
    assert choice.pack is None
    monkeypatch.setenv(levels.LEVEL, "host")
    assert name(chosen("x86-64-v4", "x86-64-v4")) == "host"


def test_a_level_that_the_processor_has_not_is_refused(
    chosen: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(levels.LEVEL, "x86-64-v4")
    with pytest.raises(BadParams, match="no avx512bw, avx512cd"):
        chosen("x86-64-v3")
    monkeypatch.setenv(levels.LEVEL, "x86-64-v5")
    with pytest.raises(BadParams, match=r"x86-64-v5.*there are x86-64-v4-gfni, "):
        chosen("x86-64-v3")


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_what_numba_is_told_holds(
    level: Level, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is a level only where name and features are its own."""
    monkeypatch.setattr(pack_files, "package_folder", lambda: tmp_path)
    monkeypatch.setattr(numba.config, "CPU_NAME", level.cpu)
    monkeypatch.setattr(numba.config, "CPU_FEATURES", level.llvm)
    levels.level_choice.cache_clear()
    assert name(levels.level_choice()) == level.name
    monkeypatch.setattr(numba.config, "CPU_FEATURES", f"{level.llvm},+sha")
    levels.level_choice.cache_clear()
    assert name(levels.level_choice()) == "host"


def test_levels_differ_in_a_constant() -> None:
    """What no constant of kernels tells apart needs no level of its own."""

    def constants(level: Level) -> tuple[bool, bool, bool]:
        has = level.features
        return level.wide, "gfni" in has, "vpclmulqdq" in has

    x86 = [level for level in LEVELS if level.name.startswith("x86")]
    assert len({constants(level) for level in x86}) == len(x86)
    assert all(level.wide == ({"avx512f", "avx512cd"} <= level.features) for level in x86)


def test_the_best_come_first() -> None:
    for better, worse in itertools.combinations(LEVELS, 2):
        assert not better.features < worse.features


@pytest.mark.skipif(not levels.host_levels(), reason="this processor has the features of no level")
def test_a_level_is_what_llvm_compiles_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """No instruction of this processor that the level has not; the user's functions keep theirs."""
    level = levels.host_levels()[-1]
    monkeypatch.setattr(
        compiling, "level_choice", lambda: LevelChoice(level, None, "the test says so")
    )
    compiling._level_codegen.cache_clear()
    for_level = jit.jit(lambda x: x + 1)
    for_level(1)
    (compiled,) = for_level.overloads.values()  # type: ignore[attr-defined]
    assert compiled.library.codegen.magic_tuple()[1:] == (level.cpu, level.llvm)
    own = numba.njit(lambda x: x + 1)
    own(1)
    (compiled,) = own.overloads.values()
    assert compiled.library.codegen.magic_tuple()[1] == llvm.get_host_cpu_name()
    compiling._level_codegen.cache_clear()
