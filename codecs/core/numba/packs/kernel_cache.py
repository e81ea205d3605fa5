"""Cache of a kernel's code: the pack of the level, then the user's cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FunctionType
from typing import Any

from numba.core.base import BaseContext
from numba.core.caching import NullCache
from numba.core.codegen import Codegen
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.types import Type

from gangsaw.codecs.core.numba.packs import compiling, gathering, packs, turns
from gangsaw.codecs.core.numba.packs.ahead.helpers import missed
from gangsaw.codecs.core.numba.packs.kernel_files import LOST_CACHE, KernelFiles
from gangsaw.codecs.core.numba.private import rebuild_result, stored_data

# in names of types that exist in one process only, such as functions as arguments
ADDRESS = " at 0x"


class KernelCache(NullCache):  # type: ignore[misc]  # Numba has no types
    """Cache of one kernel's machine code: packs, then files; it has the interface of Numba's cache.

    Parameters
    ----------
    function : the kernel's Python function
    fingerprint : returns the hash of the kernel's source files
    files : the kernel's files in the user's cache
    rebuild : creates a compile result from target context and stored data; by default Numba's own
    """

    def __init__(
        self,
        function: FunctionType,
        fingerprint: Callable[[], str],
        files: KernelFiles,
        rebuild: Callable[..., object] | None = None,
    ) -> None:
        self.kernel = f"{function.__module__}:{function.__qualname__}"
        self._function = function
        self._fingerprint = fingerprint
        self.files = files
        self._rebuild = rebuild or rebuild_result

    @property
    def cache_path(self) -> str | None:
        """Folder of the user's cache; None if no folder is writable."""
        folder = self.files.folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: tuple[Type, ...], target_context: BaseContext) -> Any:
        """Return the code for argument types from a pack, a file or another process, else None."""
        target_context.refresh()
        found = self._from_pack(sig, target_context)
        if found is None:
            found = self._from_files(sig, target_context)
        if found is None and compiling.is_outermost():
            found = self._from_another(sig, target_context)
        return found

    def save_overload(self, sig: tuple[Type, ...], data: CompileResult) -> None:
        """Write compiled code to the user's cache."""
        compiling.finished(self.kernel)
        if data.library.has_dynamic_globals:  # contains addresses of this process
            return
        name = self._file_name(sig, data.codegen)
        if name is not None:
            self.files.save(name, sig, partial(stored_data, data))
        self._gather(sig, partial(stored_data, data))

    def holds(self, sig: tuple[Type, ...]) -> bool:
        """Return True if a pack or file has the code for these argument types.

        Call it in `level_codegen`.
        """
        pack = packs.current_pack()
        if pack is not None and self.key(sig) in pack.members:
            return True
        name = self._file_name(sig, cpu_target.target_context.codegen())
        return name is not None and any((path / name).is_file() for path in self.files.folders)

    def is_locked(self, sig: tuple[Type, ...]) -> bool:
        """Return True if another process seems to compile for these argument types now.

        Call it in `level_codegen`.
        """
        name = self._file_name(sig, cpu_target.target_context.codegen())
        return name is None or self.files.turn(name).exists()

    def flush(self) -> None:
        """Remove the kernel's files from the user's cache."""
        self.files.remove()

    def key(self, sig: tuple[Type, ...]) -> str | None:
        """Return the key in a pack of the code for argument types; None if a pack cannot have it.

        Functions that close over values, alone or as arguments, have no name of their own.
        """
        signature = str(sig)
        if self._function.__closure__ or ADDRESS in signature:
            return None
        code = self._function.__code__
        place = (self.kernel, code.co_firstlineno, code.co_code.hex())
        named = repr((place, self._fingerprint(), signature))
        return hashlib.sha256(named.encode()).hexdigest()[:32]

    def _from_pack(self, sig: tuple[Type, ...], target_context: BaseContext) -> Any:
        pack = packs.current_pack()
        key = self.key(sig) if pack is not None else None
        kept = pack.load(key) if pack is not None and key is not None else None
        return None if kept is None else self._rebuild(target_context, *kept)

    def _from_files(self, sig: tuple[Type, ...], target_context: BaseContext) -> Any:
        name = self._file_name(sig, target_context.codegen())
        code = None if name is None else self.files.load(name, sig)
        if code is None:
            return None
        self._gather(sig, lambda: code)
        with suppress(*LOST_CACHE):
            return self._rebuild(target_context, *code)
        return None

    def _from_another(self, sig: tuple[Type, ...], target_context: BaseContext) -> Any:
        """Wait for another process that compiles the code, and load it; else take the lock."""
        name = self._file_name(sig, target_context.codegen())
        if name is None:
            return None
        missed(self.kernel, sig)
        release, _ = turns.acquire(self.files.turn(name))
        compiling.at_end(release)
        # another process may have compiled it meanwhile
        return self._from_files(sig, target_context)

    def _file_name(self, sig: tuple[Type, ...], codegen: Codegen) -> str | None:
        """Return the name of the file for argument types, a hash of all that the code depends on.

        None if there is no folder, or no name by which another process could find the types.
        """
        signature = str(sig)
        if ADDRESS in signature or not self.files.folders:
            return None
        code = (self._fingerprint(), self._rebuild.__qualname__, signature, codegen.magic_tuple())
        return self.files.name((self.kernel, packs.versions(), code))

    def _gather(self, sig: tuple[Type, ...], code: Callable[[], object]) -> None:
        """Collect machine code for a pack that is being built, if Python called the kernel."""
        if gathering.gathering_folder() is not None and compiling.is_outermost():
            gathering.gather_kernel(self.key(sig), self.kernel, sig, code)
