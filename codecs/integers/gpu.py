"""GPU backend for rows of integers: it has no kernels, so the host codes device arrays."""

from __future__ import annotations

from gangsaw.codecs.core.backends.device import DeviceBackend
from gangsaw.codecs.integers import cpu
from gangsaw.codecs.integers.params import Params

BACKEND: DeviceBackend[Params] = DeviceBackend(cpu.BACKEND, {}, {})
