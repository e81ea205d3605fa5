"""2bit in and out: the bytes of the format's description, other readers, hostile numbers."""

from __future__ import annotations

import itertools
import random
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from helpers.genomes import genome_in_memory, text_of_genome
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.genomes.files import twobit
from gangsaw.tasks.genomics.genomes.stored import write_twobit

MANY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
RECORDS = st.lists(st.text("ACGTNacgtn", max_size=30), min_size=1, max_size=4)


def runs(letters: str, kind: str) -> list[tuple[int, int]]:
    """Start and length of each run of letters of a kind."""
    found, at = [], 0
    for is_such, group in itertools.groupby(letters, lambda letter: letter in kind):
        n = len(list(group))
        found += [(at, n)] if is_such else []
        at += n
    return found


def two_bit(records: list[str], order: str = "<", width: int = 4) -> bytes:
    """The file by the description of the format: records are named r0, r1, ..."""
    bodies = []
    for letters in records:
        body = struct.pack(f"{order}I", len(letters))
        for kind in ("Nn", "acgtn"):
            own = runs(letters, kind)
            columns = [start for start, _ in own] + [n for _, n in own]
            body += struct.pack(f"{order}{1 + len(columns)}I", len(own), *columns)
        codes = ["TCAG".find(x) if x in "TCAG" else 0 for x in letters.upper()]
        codes += [0] * (-len(codes) % 4)
        fours = [codes[i : i + 4] for i in range(0, len(codes), 4)]
        bodies.append(body + bytes(4) + bytes(a << 6 | b << 4 | c << 2 | d for a, b, c, d in fours))
    names = [f"r{i}".encode() for i in range(len(records))]
    at = 16 + sum(1 + len(name) + width for name in names)
    head = struct.pack(f"{order}IIII", 0x1A412743, width == 8, len(records), 0)
    for name, body in zip(names, bodies, strict=True):
        head += bytes([len(name)]) + name + struct.pack(order + "IQ"[width == 8], at)
        at += len(body)
    return head + b"".join(bodies)


@MANY
@given(RECORDS, st.sampled_from("<>"), st.sampled_from([4, 8]))
def test_it_is_read_and_written_as_described(
    tmp_path_factory: pytest.TempPathFactory, records: list[str], order: str, width: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.2bit"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twobit, "SLAB", 2)
        patch.setattr(write_twobit, "SLAB", 8)
        stored = genome_in_memory(path, two_bit(records, order, width), "2bit")
        found = text_of_genome(stored).decode().split(">")[1:]
        assert [one.partition("\n")[2].replace("\n", "") for one in found] == records
        with path.open("w+b") as file:
            write_twobit.write_two_bit([stored], file)
        assert path.read_bytes() == two_bit(records)


def test_other_readers_read_it(tmp_path: Path, gangsaw: CommandLine) -> None:
    py2bit = pytest.importorskip("py2bit")
    letters = "acgTNNNACgnnRYACGTUuTA" * 50
    (tmp_path / "a.fa").write_text(f">a told\n{letters}\n>b\nAC\n")
    gangsaw.ok("compress", tmp_path / "a.fa", tmp_path / "a.zarr")
    wanted = ("decompress", tmp_path / "a.zarr", tmp_path / "a.2bit")
    assert "cannot hold widths of lines, descriptions" in gangsaw(*wanted).failed(2)
    said = gangsaw.ok(*wanted, "--accept-loss").out
    assert "descriptions" in said
    assert "residues other than" in said
    file = py2bit.open(str(tmp_path / "a.2bit"), True)
    assert file.chroms() == {"a": len(letters), "b": 2}
    as_read = letters.translate(str.maketrans("RYUun", "NNTtN"))  # it has no n of lower case
    assert file.sequence("a") == as_read
    file.close()
    gangsaw.ok("compress", tmp_path / "a.2bit", tmp_path / "b.zarr")
    gangsaw.ok("decompress", tmp_path / "b.zarr", tmp_path / "b.2bit")
    assert (tmp_path / "b.2bit").read_bytes() == (tmp_path / "a.2bit").read_bytes()
    said = gangsaw("decompress", tmp_path / "b.zarr", "-", "--format", "2bit").failed(2)
    assert "name a file" in said


WHOLE = two_bit(["ACGTNNacgt", "AC"])


@pytest.mark.parametrize(
    ("at", "value", "problem"),
    [
        (0, 7, "is no 2bit file"),
        (4, 2, "version 2 is not supported"),
        (8, 0, "it holds no records"),
        (8, 0xFFFFFFFF, "ends too early|with a blank"),
        (19, 0xFFFFFFF0, "record 1: it ends too early"),
        (30, 0xFFFFFFFF, "record 1: its 4,294,967,295 bases do not fit"),
        (34, 0xFFFFFFFF, "record 1: it ends too early"),
        (38, 0xFFFFFFFF, "record 1: its runs of N"),
        (42, 9, "record 1: its runs of N"),
    ],
)
def test_wrong_numbers_are_one_line(tmp_path: Path, at: int, value: int, problem: str) -> None:
    data = bytearray(WHOLE)
    data[at : at + 4] = struct.pack("<I", value)
    with pytest.raises(BadParams, match=problem):
        genome_in_memory(tmp_path / "a.2bit", bytes(data), "2bit")


def test_records_that_share_bytes_are_refused(tmp_path: Path) -> None:
    """Else a file of a megabyte could say that it holds terabases."""
    one = two_bit(["ACGT" * 100])
    names = b"".join(bytes([2]) + b"%02d" % i + struct.pack("<I", 16 + 50 * 7) for i in range(50))
    data = struct.pack("<IIII", 0x1A412743, 0, 50, 0) + names + one[16 + 7 :]
    with pytest.raises(BadParams, match="do not fit the file"):
        genome_in_memory(tmp_path / "a.2bit", data, "2bit")


def test_damaged_files_give_a_genome_or_one_line(tmp_path: Path) -> None:
    rng = random.Random(3)
    for _ in range(300):
        data = bytearray(WHOLE[: rng.choice([len(WHOLE), rng.randrange(len(WHOLE))])])
        for _ in range(rng.randrange(3)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        with suppress(BadParams):
            text_of_genome(genome_in_memory(tmp_path / "a.2bit", bytes(data), "2bit"))
