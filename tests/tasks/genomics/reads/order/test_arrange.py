"""What is sorted together is in one chunk, alone: so the codec finds the same places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gangsaw.codecs.reads.lines import find_lines
from gangsaw.codecs.reads.sequence.bases import to_base_codes
from gangsaw.codecs.reads.sequence.encode.order import first_mapped
from gangsaw.codecs.reads.sequence.layout.steady import steady_layout
from gangsaw.tasks.genomics.reads.files.fastq import FastqFile
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.kernels import NAME, SEQUENCE
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.order import arrange
from gangsaw.tasks.genomics.reads.stream import writer as layout
from gangsaw.tasks.genomics.reads.synthetic import make_reads

ROOM = 1 << 14


def test_records_are_sorted_chunk_by_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert arrange.CHUNK_BYTES == layout.CHUNK
    monkeypatch.setattr(arrange, "CHUNK_BYTES", ROOM)
    path = tmp_path / "reads.fastq"
    path.write_bytes(make_reads(1500, 80, genome=6000).first)
    (records,) = FastqFile(str(path)).records()
    (found,) = arrange.by_place((records,))
    assert sorted(found.begins[:, NAME]) == sorted(records.begins[:, NAME])
    own = zip(found.begins[:, SEQUENCE], found.ends[:, SEQUENCE] + 1, strict=True)
    text = np.concatenate([found.text[a:b] for a, b in own])
    per_chunk, mapped = ROOM // 81, 0  # reads
    for first in range(0, 1500, per_chunk):
        lines = find_lines(text[81 * first : 81 * (first + per_chunk)], 1 << 16)
        pieces = steady_layout(lines, to_base_codes(lines.text))
        places = pieces.position[first_mapped(pieces)]
        assert (np.diff(places) >= 0).all()
        mapped += places.size
    assert mapped > 1000


@pytest.mark.parametrize(("order", "begin"), [("sorted", ROOM), ("bins", 40 * 81)])
def test_what_is_sorted_begins_a_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, begin: int
) -> None:
    monkeypatch.setattr(layout, "CHUNK", ROOM)
    path = tmp_path / "reads.fastq"
    path.write_bytes(make_reads(100, 80, genome=6000).first)
    file = FastqFile(str(path))
    (records,) = file.records()
    source = ReadInput((str(path),), Settings(order=order))
    writer = layout.ReadWriter(source.settings)
    writer.begin(source, [file], is_input=False)
    writer.piece((records.some(slice(0, 40)),))
    second = writer.piece((records.some(slice(40, None)),))
    assert second["sequence_offset"][0] == begin
    assert second["quality_offset"][0] == 40 * 81
    assert second["sequence"].size == begin - 40 * 81 + 60 * 81
