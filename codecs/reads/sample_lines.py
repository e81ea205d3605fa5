"""Shared parts of samples: conversion of lines to bytes, and cases for all kinds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.params import Params


def join_lines(lines: Iterable[bytes]) -> Text:
    """Return lines as a block of text, each with a newline, (n,) uint8."""
    return np.frombuffer(b"".join(line + b"\n" for line in lines), np.uint8)


def any_bytes(params: Params) -> list[Sample]:
    """Return samples that every kind of text must code; their names begin with the kind."""
    rng = np.random.default_rng(11)
    cases = {
        "noise": rng.integers(0, 256, 700, np.uint8),
        "newlines": join_lines([b""] * 300),
        "one-byte": np.frombuffer(b"A", np.uint8),
        "zeros": np.zeros(200, np.uint8),
        "filled": np.concatenate((join_lines([b"ACGT"] * 9), np.zeros(90, np.uint8))),
    }
    return [Sample(f"{params.kind}-{name}", array, params) for name, array in cases.items()]
