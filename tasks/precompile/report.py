"""Report on compiled kernels: packs, active level, user's cache."""

from __future__ import annotations

from pathlib import Path

from gangsaw.codecs.core.numba.cache import cache_base
from gangsaw.codecs.core.numba.packs import levels, pack_files, packs


def report() -> dict[str, object]:
    """Return instruction level, pack and cache of this process, and why other packs are unused."""
    choice = levels.level_choice()
    return {
        "level": choice.level.name if choice.level else "host",
        "why": choice.why,
        "pack": str(choice.pack) if choice.pack else None,
        "packs": [_pack(path) for folder in pack_files.folders() for path in _packs_in(folder)],
        "cache": _cache(),
    }


def _packs_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{pack_files.SUFFIX}"))


def _pack(path: Path) -> dict[str, object]:
    level = next(
        (one for one in levels.LEVELS if pack_files.file_name(one.name) == path.name), None
    )
    opened = None if level is None else packs.opened(path, level)
    return {
        "path": str(path),
        "bytes": path.stat().st_size,
        "kernels": len(opened.members) if opened else 0,
        "unused": _why_unused(path, level, opened),
    }


def _why_unused(path: Path, level: levels.Level | None, opened: packs.Pack | None) -> str:
    """Return the reason why a pack is not used, or "" for the pack in use."""
    if level is None:
        return "of another Python, Numba or llvmlite"
    if opened is None:
        return "damaged, or made with other settings"
    if missing := sorted(level.features - levels.host_features()):
        return f"this processor has no {', '.join(missing)}"
    choice = levels.level_choice()
    if choice.pack == path:
        return ""
    return f"kernels are for {choice.level.name if choice.level else 'this processor'}"


def _cache() -> dict[str, object]:
    base = cache_base()
    files = [path.stat().st_size for path in base.glob("gangsaw-*/*/*.nbc")]
    return {"path": str(base), "kernels": len(files), "bytes": sum(files)}
