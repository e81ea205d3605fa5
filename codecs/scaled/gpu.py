"""Scaled integers of arrays on a device: the host codes them, for there are no kernels yet."""

from __future__ import annotations

from gangsaw.codecs.core.coding.device import DeviceBackend
from gangsaw.codecs.scaled import cpu
from gangsaw.codecs.scaled.params import Params

BACKEND: DeviceBackend[Params] = DeviceBackend(cpu.BACKEND, {}, {})
