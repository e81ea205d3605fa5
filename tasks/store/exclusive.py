"""Exclusive creation of objects in stores behind a network.

S3 and others accept a PUT on the condition that no such object exists (`If-None-Match: *`). Some
servers refuse the condition and some ignore it. There a writer checks that the object is absent,
writes it and waits. Writers that also saw no object have then written theirs, and the last one
wins.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable, Mapping
from typing import Protocol

from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

log = logging.getLogger(__name__)

SETTLE_SECONDS = 2.0
NOT_IMPLEMENTED = 501  # HTTP status
# error codes of S3 servers without this condition, and exceptions of client libraries
CODES = ("NotImplemented", "XNotImplemented", "InvalidArgument", "InvalidRequest")
ERRORS = ("TypeError", "NotImplementedError", "ParamValidationError")

conditional: set[Hashable] = set()  # (server, bucket) pairs that honoured the condition
unconditional: set[Hashable] = set()


class ConditionalStore(Protocol):
    """Store behind a network, with the methods that `create_exclusively` calls."""

    name: str

    async def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object on the condition that it does not exist."""

    async def exists(self, key: str) -> bool:
        """Return True if the object exists."""

    async def set(self, key: str, value: Buffer) -> None:
        """Write an object."""

    async def get(self, key: str, prototype: BufferPrototype) -> Buffer | None:
        """Return an object, or None if it is absent."""


async def create_exclusively(
    store: ConditionalStore, server: Hashable, key: str, data: bytes
) -> bool:
    """Write an object unless it exists; return True if this call was the first to write it.

    Parameters
    ----------
    store, server : store, and the identity of its server and bucket, for which the support of
        conditional writes is remembered
    key, data : key and bytes of the object; each writer has different bytes
    """
    if server in unconditional:
        return await _create_after_check(store, key, data)
    if server not in conditional and await store.exists(key):  # else the probe might overwrite it
        return await _is_stored(store, key, data)
    try:
        is_first = await store.put_if_absent(key, data)
        if is_first and server not in conditional:
            if await store.put_if_absent(key, data):
                raise NotImplementedError("the condition is ignored")
            conditional.add(server)
    except NotImplementedError:
        is_first = await _create_after_check(store, key, data)
        if server in unconditional:  # another thread has logged the warning
            return is_first
        unconditional.add(server)
        log.warning(
            "%s: this store has no conditional PUT: two jobs that begin there within %g s might "
            "not notice each other, so begin them one after the other",
            store.name,
            SETTLE_SECONDS,
        )
        return is_first
    return is_first or await _is_stored(store, key, data)


async def _create_after_check(store: ConditionalStore, key: str, data: bytes) -> bool:
    """Write an object if a look-up finds none; of several concurrent writers the last one wins."""
    if not await store.exists(key):
        await store.set(key, default_buffer_prototype().buffer.from_bytes(data))
    if not await _is_stored(store, key, data):
        return False
    await asyncio.sleep(SETTLE_SECONDS)
    return await _is_stored(store, key, data)


async def _is_stored(store: ConditionalStore, key: str, data: bytes) -> bool:
    found = await store.get(key, default_buffer_prototype())
    return found is not None and found.to_bytes() == data


def is_unknown_condition(error: BaseException | None) -> bool:
    """Return True if a request failed because the server or the library lacks conditional PUT."""
    while error is not None:
        if type(error).__name__ in ERRORS:
            return True
        reply = getattr(error, "response", None)
        if isinstance(reply, Mapping):
            code = reply.get("Error", {}).get("Code")
            status = reply.get("ResponseMetadata", {}).get("HTTPStatusCode")
            return status == NOT_IMPLEMENTED or code in CODES
        error = error.__cause__
    return False
