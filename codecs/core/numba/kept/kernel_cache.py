"""Where a kernel's code is looked for: in the pack of the level, then in the user's cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

from gangsaw.codecs.core.numba.kept import compiling, gathering, packs, turns


class KernelCache(NullCache):  # type: ignore[misc]  # Numba has no types
    """A kernel's cache.

    Parameters
    ----------
    function : the kernel, as Python has it
    fingerprint : hashes its sources
    files : Numba's cache of files; of a class that keeps nothing where nothing can be written
    """

    def __init__(self, function: FunctionType, fingerprint: Callable[[], str], files: Any) -> None:
        self.kernel = f"{function.__module__}:{function.__qualname__}"
        self._function = function
        self._fingerprint = fingerprint
        self.files = files

    @property
    def cache_path(self) -> Any:
        """The folder of the user's cache; None where there is none."""
        return self.files.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for these types, here or elsewhere; else None."""
        target_context.refresh()
        found = self._from_pack(sig, target_context)
        if found is None:
            found = self._from_files(sig, target_context)
        if found is None and compiling.is_outermost():
            found = self._from_another(sig, target_context)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled."""
        self.files.save_overload(sig, data)
        compiling.finished(self.kernel)
        self._gather(sig, data._reduce)

    def flush(self) -> None:
        """Forget what is in the user's cache."""
        self.files.flush()

    def key(self, sig: Any) -> str | None:
        """Return what a pack knows the code by; None for what can be in no pack.

        Functions that close over values, and such as arguments, have no name of their own.
        """
        signature = str(sig)
        if self._function.__closure__ or " at 0x" in signature:
            return None
        code = self._function.__code__
        place = (self.kernel, code.co_firstlineno, code.co_code.hex())
        named = repr((place, self._fingerprint(), signature))
        return hashlib.sha256(named.encode()).hexdigest()[:32]

    def _from_pack(self, sig: Any, target_context: Any) -> Any:
        pack = packs.current()
        key = self.key(sig) if pack is not None else None
        kept = pack.load(key) if pack is not None and key is not None else None
        return None if kept is None else CompileResult._rebuild(target_context, *kept)

    def _from_files(self, sig: Any, target_context: Any) -> Any:
        found = self.files.load_overload(sig, target_context)
        if found is not None:
            key = self.files._index_key(sig, target_context.codegen())
            self._gather(sig, partial(self.files._cache_file.load, key))
        return found

    def _from_another(self, sig: Any, target_context: Any) -> Any:
        """Wait while another process compiles this; else it is this one's turn."""
        if self.cache_path is None:
            return None
        name = hashlib.sha256(f"{self.kernel}{sig}".encode()).hexdigest()[:32]
        release, waited = turns.take(Path(self.cache_path) / f"{name}.turn")
        compiling.at_end(release)
        return self._from_files(sig, target_context) if waited else None

    def _gather(self, sig: Any, code: Callable[[], object]) -> None:
        """Give what Python called to whoever makes a pack."""
        if gathering.folder() is not None and compiling.is_outermost():
            gathering.gather(self.key(sig), self.kernel, sig, code)
