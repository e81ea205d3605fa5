"""Rows of integers of arrays on a device: the host codes them, for there are no kernels."""

from __future__ import annotations

from gangsaw.codecs.core.coding.device import DeviceBackend
from gangsaw.codecs.integers import cpu
from gangsaw.codecs.integers.params import Params

BACKEND: DeviceBackend[Params] = DeviceBackend(cpu.BACKEND, {}, {})
