"""Holder of a lease: identity of the process that writes to a target."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from dataclasses import asdict, dataclass, fields, replace

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.processes import boot_id, is_alive, namespaces, start_time_of
from gangsaw.tasks.store.state_fields import read_fields


@dataclass(frozen=True)
class Holder:
    """Identity of the process that writes to a target, stored in the lease of the target.

    Attributes
    ----------
    host, boot : host name, and identity of its last boot; "" if unknown
    process, started : process number, and start time in ticks since the boot; 0 if unknown
    token : identity of this job
    seconds : time of writing the lease, in seconds since 1970 by the host's clock
    namespaces : namespaces of the process number and the start time; "" if unknown
    """

    host: str
    boot: str
    process: int
    started: int
    token: str
    seconds: float
    namespaces: str = ""

    @classmethod
    def of_this_process(cls) -> Holder:
        """Return the identity of this process, with a token for a new job."""
        process = os.getpid()
        return cls(
            host=socket.gethostname(),
            boot=boot_id(),
            process=process,
            started=start_time_of(process),
            token=uuid.uuid4().hex,
            seconds=time.time(),
            namespaces=namespaces(),
        )

    @classmethod
    def unpack(cls, data: bytes) -> Holder | None:
        """Return the holder in a lease, or None if the bytes are incomplete."""
        try:
            values = read_fields(data).values
            names = [f.name for f in fields(cls) if f.name in values]
            holder = cls(**{name: values[name] for name in names})  # type: ignore[arg-type]
        except (TypeError, CorruptChunk):
            return None
        kinds = {"host": str, "process": int, "started": int, "token": str, "seconds": float}
        return holder if all(isinstance(getattr(holder, k), t) for k, t in kinds.items()) else None

    @property
    def is_comparable(self) -> bool:
        """True if the holder's process number is valid here: same host, boot and namespaces."""
        here = socket.gethostname(), boot_id(), namespaces()
        return all(here) and (self.host, self.boot, self.namespaces) == here

    @property
    def is_dead(self) -> bool:
        """True if the holder's process has certainly ended; False if that is unknown."""
        if not self.is_comparable:
            return False
        if not is_alive(self.process):
            return True
        now = start_time_of(self.process)
        return 0 not in (now, self.started) and now != self.started

    def __str__(self) -> str:
        """Return the name of the process for messages."""
        name, boot = f"process {self.process} on {self.host}", boot_id()
        if self.host != socket.gethostname() or not (boot and self.boot):
            return name
        if self.boot != boot:
            return f"{name}, of another machine of that name or before its last boot,"
        return name if self.namespaces == namespaces() else f"{name}, in another container,"

    def pack(self) -> bytes:
        """Return the bytes of the lease with the current time."""
        return json.dumps(asdict(replace(self, seconds=time.time()))).encode()
