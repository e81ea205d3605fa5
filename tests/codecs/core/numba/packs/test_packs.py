"""Packs of compiled kernels: taken where all fits, else as if they were not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import pytest

from gangsaw.codecs.core.numba import cache, jit
from gangsaw.codecs.core.numba.packs import (
    compiling,
    gathering,
    kernel_cache,
    levels,
    pack_files,
    packs,
)

LEVEL = (levels.host_levels() or (None,))[0]
pytestmark = pytest.mark.skipif(LEVEL is None, reason="this processor has the features of no level")


def scaled(x: int) -> int:
    return 3 * x + 1


def fresh(function: Callable[[int], int] = scaled) -> Any:
    """A dispatcher that knows nothing yet, as in a new process."""
    return jit.jit(FunctionType(function.__code__, globals(), function.__name__))


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    choice = levels.LevelChoice(LEVEL, None, "the test says so")
    for module in (levels, compiling, packs):
        monkeypatch.setattr(module, "level_choice", lambda: choice)
    compiling._level_codegen.cache_clear()
    yield
    compiling._level_codegen.cache_clear()


@pytest.fixture
def pack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A pack with the kernel; the user's cache is empty again."""
    assert LEVEL is not None
    (tmp_path / "gathered").mkdir()
    with monkeypatch.context() as gathers:
        gathers.setattr(gathering, "gathering_folder", lambda: tmp_path / "gathered")
        assert fresh()(7) == 22
    path = tmp_path / "packs" / pack_files.file_name(LEVEL.name)
    packs.write(path, LEVEL, gathering.gathered(tmp_path / "gathered"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "another cache"))
    return path


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Any]:
    """Let kernels be looked for in a pack; return a dispatcher that has been called."""

    def ask(path: Path, function: Callable[[int], int] = scaled) -> Any:
        assert LEVEL is not None
        monkeypatch.setattr(packs, "current_pack", lambda: packs.opened(path, LEVEL))
        kernel = fresh(function)
        assert kernel(7) == function(7)
        return kernel

    return ask


def is_loaded(kernel: Any) -> bool:
    stats = kernel.stats
    hits, misses = sum(stats.cache_hits.values()), sum(stats.cache_misses.values())
    assert hits + misses == 1
    return hits == 1


def test_what_a_pack_holds_is_not_compiled(pack: Path, asks: Callable[[Path], Any]) -> None:
    assert is_loaded(asks(pack))
    assert not list(pack.parents[1].joinpath("another cache").rglob("*.nbc"))


def test_other_types_are_compiled(pack: Path, asks: Callable[[Path], Any]) -> None:
    kernel = asks(pack)
    assert kernel(0.5) == 2.5
    assert sum(kernel.stats.cache_misses.values()) == 1


def test_a_read_only_installation_takes_packs(
    pack: Path,
    asks: Callable[[Path], Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """No folder can be written to."""
    (tmp_path / "file").write_text("no folder can be below")
    monkeypatch.setattr(cache, "cache_folders", lambda *_: (tmp_path / "file/below",))
    kernel = asks(pack)
    assert is_loaded(kernel)
    assert kernel.stats.cache_path is None


def test_another_source_is_compiled(
    pack: Path, asks: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "fingerprint", lambda _: "of a changed file")
    assert not is_loaded(asks(pack))


def test_another_body_under_the_same_name_is_compiled(pack: Path, asks: Callable[..., Any]) -> None:
    space: dict[str, Any] = {}
    line = scaled.__code__.co_firstlineno
    exec("\n" * (line - 1) + "def scaled(x):\n    return 5 - x", space)
    assert not is_loaded(asks(pack, space["scaled"]))


@pytest.mark.parametrize("what", ["python", "numba", "llvmlite", "numpy", "triple", "settings"])
def test_what_was_made_for_anything_else_is_compiled(
    what: str, pack: Path, asks: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = packs.made_for
    monkeypatch.setattr(packs, "made_for", lambda level: {**made(level), what: "another"})
    assert not is_loaded(asks(pack))


def test_what_was_made_for_other_instructions_is_no_pack_of_a_level(pack: Path) -> None:
    assert LEVEL is not None
    assert packs.opened(pack, LEVEL) is not None
    more = replace(LEVEL, features=LEVEL.features | {"avx512vnni"})
    assert packs.opened(pack, more) is None


def test_a_pack_of_other_versions_has_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pack_files.file_name("x86-64-v3")
    monkeypatch.setattr(numba, "__version__", "0.0.0")
    assert pack_files.file_name("x86-64-v3") != before


def test_every_damaged_byte_costs_time_only(pack: Path, asks: Callable[[Path], Any]) -> None:
    """Of the whole file, flipped; most are tried on the index and the members without Numba."""
    assert LEVEL is not None
    whole = pack.read_bytes()
    opened = packs.opened(pack, LEVEL)
    assert opened is not None
    ((key, _),) = opened.members.items()
    for at in range(0, len(whole), max(len(whole) // 400, 1)):
        pack.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        found = packs.opened(pack, LEVEL)
        assert found is None or found.load(key) is None, f"byte {at}"
    assert not is_loaded(asks(pack))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.999])
def test_a_truncated_pack_costs_time_only(
    share: float, pack: Path, asks: Callable[[Path], Any]
) -> None:
    whole = pack.read_bytes()
    pack.write_bytes(whole[: int(share * len(whole))])
    assert not is_loaded(asks(pack))


def test_a_pack_that_vanishes_costs_time_only(pack: Path, asks: Callable[[Path], Any]) -> None:
    assert LEVEL is not None
    opened = packs.opened(pack, LEVEL)
    pack.unlink()
    assert opened is not None
    assert all(opened.load(key) is None for key in opened.members)
    assert not is_loaded(asks(pack))


def test_functions_that_close_over_values_are_in_no_pack() -> None:
    def made(factor: int) -> Callable[[int], int]:
        return lambda x: factor * x

    kept = kernel_cache.KernelCache(made(2), lambda: "print", None)  # type: ignore[arg-type]
    assert kept.key((numba.types.int64,)) is None
