"""FASTQ into stores and back: the same text whatever it is, one clear error for what is none."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.formats.contract.format import ExportOptions
from gangsaw.tasks.genomics.reads.stream.stream import ReadStream

LETTERS = st.text("ACGTNacgtnRYK.*-", max_size=60)
NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def records(draw: st.DrawFn) -> tuple[str, str, str, str]:
    name, sequence = draw(NAMES), draw(LETTERS)
    sign = draw(st.sampled_from(["", "", name, "other"]))
    n = len(sequence)
    quality = draw(
        st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=n, max_size=n)
    )
    return name, sequence, sign, quality


@st.composite
def texts(draw: st.DrawFn, least: int = 1) -> bytes:
    """FASTQ with line ends of any kind, the last one perhaps missing, blank lines behind it."""
    some = draw(st.lists(records(), min_size=least, max_size=8))
    lines = [line for n, s, p, q in some for line in ("@" + n, s, "+" + p, q)]
    usual = draw(st.sampled_from(["\n", "\r\n"]))
    odd = draw(st.sets(st.integers(0, len(lines) - 1), max_size=2))
    ends = [("\n" if usual == "\r\n" else "\r\n") if i in odd else usual for i in range(len(lines))]
    text = "".join(line + end for line, end in zip(lines, ends, strict=True))
    if draw(st.booleans()) and lines[-1]:
        text = text.rstrip("\r\n")
    elif draw(st.booleans()):
        text += draw(st.sampled_from(["\n", "\n\n", "\r\n"]))
    return text.encode()


def there_and_back(
    folder: Path, *given_texts: bytes, n_targets: int = 0, **own: Any
) -> list[bytes]:
    """Compress files of these texts, and return those of as many targets."""
    paths = [folder / f"in_{i}.fastq" for i in range(len(given_texts))]
    for path, text in zip(paths, given_texts, strict=True):
        path.write_bytes(text)
    gangsaw.compress(paths, folder / "reads.zarr", overwrite=True, **own)
    return back(folder, n_targets or len(paths))


def back(folder: Path, n_targets: int, **own: Any) -> list[bytes]:
    targets = [folder / f"out_{i}.fastq" for i in range(n_targets)]
    gangsaw.decompress(
        folder / "reads.zarr", targets, options=ExportOptions(own=own), overwrite=True
    )
    return [target.read_bytes() for target in targets]


def fastq(*sequences: str, name: str = "r") -> bytes:
    return "".join(
        f"@{name}{i}\n{s}\n+\n{'I' * len(s)}\n" for i, s in enumerate(sequences)
    ).encode()


@FEW
@given(text=texts())
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    folder = tmp_path_factory.mktemp("reads")
    assert there_and_back(folder, text) == [text]


@FEW
@given(first=texts(), second=texts())
def test_mates_come_back(
    tmp_path_factory: pytest.TempPathFactory, first: bytes, second: bytes
) -> None:
    folder = tmp_path_factory.mktemp("reads")
    counts = [len(text.rstrip(b"\r\n").split(b"\n")) for text in (first, second)]
    if len({-(-n // 4) for n in counts}) == 1:
        assert there_and_back(folder, first, second) == [first, second]


@pytest.mark.parametrize("own", [{}, {"order": "sorted"}, {"interleaved": "yes"}])
def test_files_without_records(tmp_path: Path, own: dict[str, str]) -> None:
    assert there_and_back(tmp_path, b"", **own) == [b""]
    assert gangsaw.info(tmp_path / "reads.zarr").arrays
    assert gangsaw.verify(tmp_path / "reads.zarr", against=tmp_path / "in_0.fastq", **own).ok
    if not own:
        assert there_and_back(tmp_path, b"", b"") == [b"", b""]


@pytest.mark.full
def test_progress_says_how_much_is_done(tmp_path: Path) -> None:
    path, seen = tmp_path / "in.fastq.gz", list[Progress]()
    path.write_bytes(gzip.compress(fastq(*["ACGT" * 20] * 500)))
    chunks = {"sequence_byte": 1 << 12, "quality_byte": 1 << 12}
    gangsaw.compress(path, tmp_path / "a.zarr", chunks=chunks, on_progress=seen.append)
    shares = [state.share or 0.0 for state in seen]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1
    assert shares[-1] == 1
    assert seen[0].seconds_left


def test_mates_alternate_in_one_target(tmp_path: Path) -> None:
    first, second = fastq("ACG", "TTT", name="a"), fastq("CC", "GGGG", name="b")
    whole = there_and_back(tmp_path, first, second, n_targets=1)[0]
    lines, ours = whole.split(b"\n"), [text.split(b"\n") for text in (first, second)]
    assert lines == [*ours[0][:4], *ours[1][:4], *ours[0][4:8], *ours[1][4:8], b""]
    (tmp_path / "both.fastq").write_bytes(whole)
    again = there_and_back(tmp_path, whole, n_targets=2, interleaved="yes")
    assert again == [first, second]


def test_a_shard_has_whole_pairs_and_all_shards_have_all(tmp_path: Path) -> None:
    sequences = ["A" * (i % 7) for i in range(31)]
    texts = fastq(*sequences, name="a"), fastq(*reversed(sequences), name="b")
    there_and_back(tmp_path, *texts)
    parts = [back(tmp_path, 2, shard=f"{i}/4") for i in range(1, 5)]
    for k in range(2):
        assert b"".join(part[k] for part in parts) == texts[k]
        assert all(part[k].count(b"\n") % 4 == 0 for part in parts)


def test_without_names_records_get_numbers_or_nothing(tmp_path: Path) -> None:
    text = fastq("ACG", "TT")
    assert there_and_back(tmp_path, text, names="number") == [b"@1\nACG\n+\nIII\n@2\nTT\n+\nII\n"]
    assert there_and_back(tmp_path, text, names="none") == [b"@\nACG\n+\nIII\n@\nTT\n+\nII\n"]


def test_binned_qualities_have_eight_values(tmp_path: Path) -> None:
    quality = bytes(range(33, 75))
    text = b"@r\n" + b"A" * len(quality) + b"\n+\n" + quality + b"\n"
    binned = there_and_back(tmp_path, text, qualities="binned")[0].split(b"\n")[3]
    assert sorted({q - 33 for q in binned}) == [0, 1, 6, 15, 22, 27, 33, 37, 40]
    assert (
        there_and_back(tmp_path, binned_text(binned), qualities="binned")[0].split(b"\n")[3]
        == binned
    )


def binned_text(quality: bytes) -> bytes:
    return b"@r\n" + b"A" * len(quality) + b"\n+\n" + quality + b"\n"


def test_without_qualities_there_is_no_fastq(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="holds no qualities, which FASTQ needs"):
        there_and_back(tmp_path, fastq("ACGT"), qualities="none")


def test_the_sum_of_records_does_not_depend_on_their_order(tmp_path: Path) -> None:
    import zarr

    sums = []
    for sequences in (["ACG", "T", "GGA"], ["T", "GGA", "ACG"], ["T", "GGA", "ACC"]):
        text = "".join(f"@x\n{s}\n+\n{'I' * len(s)}\n" for s in sequences).encode()
        there_and_back(tmp_path, text)
        sums.append(zarr.open_group(tmp_path / "reads.zarr").attrs["gangsaw_reads"]["digest"])
    assert sums[0] == sums[1] != sums[2]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"@a\nAC\n+\nII\nb\nAC\n+\nII\n", "line 5, record 2: it does not begin with @"),
        (
            b"@a\nAC\nAC\n+\n",
            r"line 3, record 1: it does not begin with \+ \(sequences on several lines",
        ),
        (b"@a\nAC\n+\nIII\n", "line 4, record 1: its quality differs in length"),
        (b"@a\nAC\n+\nII\n@b\nAC\n", "line 6: record 2 ends after 2 of 4 lines"),
        (b"@a\nAC\n+\nII\n@b\nAC", "line 6: record 2 ends after 2 of 4 lines"),
        (bytes(range(256)) * 9, r"line 1, record 1: it does not begin with @ \(it is no text\)"),
        (b">a\nAC\n", r"line 1, .* \(it is FASTA: pass --format fasta\)"),
        ("@a\nAC\n+\nII\n".encode("utf-16"), r"line 1, .* \(it is text of UTF-16"),
        (b"\xef\xbb\xbf@a\nAC\n+\nII\n", r"line 1, .* \(a byte order mark"),
    ],
)
def test_what_is_no_fastq_is_named_by_line_and_record(
    tmp_path: Path, text: bytes, problem: str
) -> None:
    (tmp_path / "in_0.fastq").write_bytes(text)
    stream = ReadStream((str(tmp_path / "in_0.fastq"),))
    with pytest.raises(BadParams, match=f"in_0.fastq: {problem}"):
        gangsaw.compress(stream, tmp_path / "reads.zarr")
    assert not list(tmp_path.rglob("zarr.json"))


@pytest.mark.parametrize("ends", [b"\r\n\r\n\r\n\r\n", b"\r\n\n\r\n\n"], ids=["all", "mixed"])
def test_another_order_keeps_records_and_their_line_ends(tmp_path: Path, ends: bytes) -> None:
    lines = [[b"@%d" % i, b"ACGT" * i, b"+", b"I" * 4 * i] for i in range(9)]
    of = [end + b"\n" for end in ends.split(b"\n")[:4]]
    texts = [b"".join(map(bytes.__add__, four, of)) for four in lines]
    (found,) = there_and_back(tmp_path, b"".join(texts), order="bins")
    assert sorted(b"@" + record for record in found.split(b"@")[1:]) == texts


def test_files_of_different_counts_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match=r"in_1.fastq: record 2 has no mate: .*in_0.fastq has 1"):
        there_and_back(tmp_path, fastq("A"), fastq("A", "C"))
    with pytest.raises(BadParams, match=r"in_0.fastq: record 3 has no mate"):
        there_and_back(tmp_path, fastq("A", "C", "G"), interleaved="yes")


def test_verify_reads_the_files_again(tmp_path: Path) -> None:
    texts = [b"@a\nAC\n+\nII\n@b\nAT\n+\nII\n", b"@a\nGC\n+\nII\n@b\nGT\n+\nII\n"]
    there_and_back(tmp_path, *texts)
    paths, store = [str(tmp_path / f"in_{i}.fastq") for i in range(2)], tmp_path / "reads.zarr"
    assert gangsaw.verify(store, against=paths).ok
    (tmp_path / "in_1.fastq").write_bytes(texts[1].replace(b"GT", b"GA"))
    problems = gangsaw.verify(store, against=paths).problems
    named = [line.partition(":")[0] for line in problems]
    assert named == ["sequence", "attribute gangsaw_reads", "sequence"]  # the last by pysam
    (tmp_path / "in_1.fastq").write_bytes(texts[1].replace(b"+\n", b"+odd\n", 1))
    problems = gangsaw.verify(store, against=paths).problems
    assert "plus: the store has 0 samples, the source 4" in problems


@pytest.mark.parametrize("order", ["kept", "bins"])
@pytest.mark.parametrize("names", ["keep", "number", "none"])
def test_verify_knows_how_the_store_was_made(tmp_path: Path, order: str, names: str) -> None:
    """Of records with odd signs and CR LF, of which a part is kept."""
    lines = (f"@r{i} x\r\n{s}\r\n+r{i} x\r\n{'I' * len(s)}\r\n" for i, s in enumerate(SOME))
    path, store = tmp_path / "in.fastq", tmp_path / "reads.zarr"
    text = "".join(lines).encode().replace(b"+r2 x\r", b"+\r").replace(b"+r3", b"+other")
    path.write_bytes(text)
    own = {"order": order, "names": names, "qualities": "none" if order == "kept" else "binned"}
    gangsaw.compress(path, store, interleaved="yes", pairing="trusted", **own)
    assert gangsaw.verify(store, against=path).ok
    wrong = "order" if order == "bins" else "names"
    with pytest.raises(BadParams, match=f"was made with --{wrong} {own[wrong]}, not"):
        gangsaw.verify(
            store, against=path, **{wrong: "sorted" if order == "bins" else OTHER[names]}
        )
    path.write_bytes(text.replace(b"\r\nI", b"\r\n#", 1).replace(b"TTGA", b"TTGC"))
    assert any("digest" in line for line in gangsaw.verify(store, against=path).problems)


SOME = ("ACGATTGACCATTGACA", "ACGT", "", "TTGACCA", "ACCNACGGTACC", "TTGA")
OTHER = {"keep": "none", "number": "none", "none": "number"}


def test_a_cut_off_gzip_file_names_the_record(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    text = fastq(*("".join(rng.choice(list("ACGT"), 100)) for _ in range(300)))
    path = tmp_path / "in.fastq.gz"
    path.write_bytes(gzip.compress(text)[:-500])
    with pytest.raises(BadParams, match=r"in.fastq.gz is cut off: .* \(after record \d+\)"):
        gangsaw.compress(path, tmp_path / "reads.zarr")
    assert not (tmp_path / "reads.zarr").exists()


def of_64(qualities: bytes) -> bytes:
    return b"@a\n" + b"A" * len(qualities) + b"\n+\n" + qualities + b"\n"


@pytest.mark.parametrize("order", ["kept", "sorted"])
def test_bins_of_another_scale_have_to_be_meant(tmp_path: Path, order: str) -> None:
    """Good bases of Phred+64 became those of Q2, Q6 and Q9."""
    text = of_64(bytes(range(64, 104)))
    with pytest.raises(BadParams, match=r"look like Phred\+64 \('@' to 'g'\).*--phred 64"):
        there_and_back(tmp_path, text, qualities="binned", order=order)
    (found,) = there_and_back(tmp_path, text, qualities="binned", order=order, phred=64)
    values = [q - 64 for q in found.split(b"\n")[3]]
    assert values == [0, 1, *[6] * 8, *[15] * 10, *[22] * 5, *[27] * 5, *[33] * 5, *[37] * 5]
    assert gangsaw.verify(tmp_path / "reads.zarr", against=tmp_path / "in_0.fastq").ok
    figures = gangsaw.reads.open(tmp_path / "reads.zarr").contents.figures
    assert figures is not None
    assert figures.qualities[-1] == (37, 5)


def test_high_qualities_of_the_usual_scale_are_told_of(tmp_path: Path) -> None:
    (tmp_path / "a.fq").write_bytes(of_64(b"+~"))
    summary = gangsaw.compress(tmp_path / "a.fq", tmp_path / "a.zarr", qualities="binned")
    assert "qualities from 40 on, up to 93, became 40" in summary.notes
    (found,) = there_and_back(tmp_path, of_64(b"L~"), qualities="binned", phred=33)
    assert found == of_64(b"II")
