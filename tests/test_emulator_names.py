"""The stand-in's names and parameters are CuPy's, wherever CuPy is installed: no device needed."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest
from emulator import cupy_standin


def parameters(function: Any) -> list[str] | None:
    """Return the names of the parameters, None where compiled code does not tell."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None
    return None if {"args", "kwargs"} & set(names) else names


def differences(own: ModuleType, real: ModuleType) -> list[str]:
    """Return the names that the real module lacks, or that take other parameters there."""
    found = []
    for name, value in vars(own).items():
        there = getattr(real, name, None)
        if name.startswith("_"):
            continue
        if there is None:
            found.append(f"{own.__name__}.{name} is missing")
        elif inspect.ismodule(value):
            found += differences(value, there)
        elif None not in (pair := (parameters(value), parameters(there))) and pair[0] != pair[1]:
            found.append(f"{own.__name__}.{name}: {pair[0]} for {pair[1]}")
    return found


def test_names_and_parameters() -> None:
    real = pytest.importorskip("cupy", reason="CuPy is not installed")
    assert not differences(cupy_standin.module(), real)
    public = {name for name in vars(cupy_standin.ndarray) if not name.startswith("_")}
    assert public <= {*dir(real.ndarray)}


def test_differences_are_seen() -> None:
    own, real = ModuleType("own"), ModuleType("real")
    own.__dict__.update(f=lambda a: a, g=lambda a: a)
    real.__dict__.update(f=lambda b: b)
    assert len(differences(own, real)) == 2
