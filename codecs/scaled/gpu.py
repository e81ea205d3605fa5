"""GPU backend for scaled integers: it has no kernels, so the host codes device arrays."""

from __future__ import annotations

from gangsaw.codecs.core.backends.device import DeviceBackend
from gangsaw.codecs.scaled import cpu
from gangsaw.codecs.scaled.params import Params

BACKEND: DeviceBackend[Params] = DeviceBackend(cpu.BACKEND, {}, {})
