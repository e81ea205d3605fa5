"""Which files belong together by their names, and where that is not told."""

from __future__ import annotations

import re

import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.reads.sets.by_name import sets_by_name
from gangsaw.tasks.genomics.reads.sets.file_sets import FileSet, number_sets, parse_sets

TOLD = {
    "reads.fastq": [(0,)],
    "a.fastq b.fastq": [(0, 1)],  # two are mates, whatever they are called
    "a_1.fastq b_2.fastq": [(0, 1)],
    "s_L001_R1.fastq.gz s_L002_R1.fastq.gz": [(0,), (1,)],
    "S1_L001_R1_001.fastq.gz S1_L001_R2_001.fastq S1_L002_R1_001.fq.zst S1_L002_R2_001.fq": [
        (0, 1),
        (2, 3),
    ],
    "x_L1_R1.fq x_L2_R1.fq x_L1_R2.fq x_L2_R2.fq": [(0, 2), (1, 3)],
    "x_I1.fq x_I2.fq x_R1.fq x_R2.fq": [(0, 1, 2, 3)],
    "x_R1.fq x_R2.fq x_R3.fq": [(0, 1, 2)],
    "a/x_1.fq a/x_2.fq b/x_1.fq b/x_2.fq": [(0, 1), (2, 3)],
    "SRR7_1.fastq SRR7_2.fastq SRR7.fastq": [(0, 1), (2,)],  # fasterq-dump --split-3
    "p.R1.fq p.R2.fq singles.fq others.fq": [(0, 1), (2,), (3,)],
    "a_R1_001.fq a_R1_002.fq a_R2_001.fq a_R2_002.fq": [(0, 2), (1, 3)],
    "a_r1.FQ.GZ b_r1.FQ.GZ c_r1.fq": [(0,), (1,), (2,)],
}
NOT_TOLD = {
    "a.fq b.fq s.fq o.fq": "names do not show which are mates",
    "a_R1.fq a_R2.fq a_R1.fq": "a_R1.fq is named twice",
    "s.fq s.fq a_R1.fq a_R2.fq": "s.fq is named twice",
    "x_L1_R1.fq x_L1_R2.fq x_L2_R1.fq": "x_L2_R1.fq is R1 of its reads, others have R2",
    "x_L1_R1.fq x_L1_R2.fq x_L2_R2.fq": "x_L2_R2.fq is R2 of its reads, others have R1",
    "s_1.fq s_2.fq s_3.fq": "s_3.fq: its name does not show which mate it is",
    "x_R1.fq.gz x_R1.fastq x_R2.fq": "x_R1.fq.gz and others are called R1",
}


@pytest.mark.parametrize("paths", TOLD)
def test_names_tell_which_files_belong_together(paths: str) -> None:
    assert [own.files for own in sets_by_name(paths.split())] == TOLD[paths]


@pytest.mark.parametrize("paths", NOT_TOLD)
def test_names_that_do_not_tell_are_refused_in_a_line(paths: str) -> None:
    with pytest.raises(BadParams, match=re.escape(NOT_TOLD[paths])) as caught:
        sets_by_name(paths.split())
    assert "\n" not in str(caught.value)
    assert "twice" in str(caught.value) or "--sets 2,1" in str(caught.value)


def test_mates_alternate_in_one_file_alone() -> None:
    assert sets_by_name(["a.fq"], interleaved=True) == (FileSet((0,), interleaved=True),)
    with pytest.raises(BadParams, match="mates alternate in one file: --sets 2,1"):
        sets_by_name(["a.fq", "b.fq"], interleaved=True)


def test_sets_that_a_user_says() -> None:
    assert [own.files for own in parse_sets("2,1,1", 4)] == [(0, 1), (2,), (3,)]
    assert [own.files for own in parse_sets("2", 6)] == [(0, 1), (2, 3), (4, 5)]
    assert parse_sets("i, 1", 2) == (FileSet((0,), interleaved=True), FileSet((1,)))
    for text in ("", "0", "2,", "a", "-1", "2;1"):
        with pytest.raises(BadParams, match="--sets must be like 2,1,1"):
            parse_sets(text, 3)
    with pytest.raises(BadParams, match="--sets 2,1 is of 3 files, not of 4"):
        parse_sets("2,1", 4)


def test_records_of_sets_lie_behind_each_other() -> None:
    found = number_sets(parse_sets("2,1", 3), [4, 3])
    assert [(own.first, own.last, own.together) for own in found] == [(0, 4, 2), (4, 7, 1)]
