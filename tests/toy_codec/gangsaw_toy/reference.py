"""The toy codec once more, slow and plain, from SPEC.md alone."""

from __future__ import annotations

from typing import Any


def recode_block(
    data: bytes, configuration: dict[str, Any], shape: tuple[int, ...], dtype: Any
) -> tuple[list[int], bytes]:
    """Return the bytes of a block's text, and the same block encoded from them."""
    text = decoded(list(data))
    assert len(text) == shape[0]
    return text, bytes(encoded(text))


def decoded(data: list[int]) -> list[int]:
    """Follow the fields, line by line."""
    text: list[int] = []
    before: list[int] = []
    while data:
        same, n, data = data[0], data[1] + 256 * data[2], data[3:]
        line, data = before[:same] + data[:n], data[n:]
        text, before = text + line, line
    return text


def encoded(text: list[int]) -> list[int]:
    """Write the fields, line by line."""
    out: list[int] = []
    line: list[int] = []
    before: list[int] = []
    for i, byte in enumerate(text):
        line.append(byte)
        is_end = byte == 10 or i == len(text) - 1
        if is_end or len(line) == 65535:
            same = 0
            while same < min(255, len(line), len(before)) and line[same] == before[same]:
                same += 1
            rest = line[same:]
            out += [same, len(rest) % 256, len(rest) // 256, *rest]
            before, line = line, []
    return out
