"""The figure of a genome: bits per base with the borders and names of records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gangsaw
from gangsaw.tasks.genomics.genomes.stored.plots import MAX_NAMES, named_records


def bases(seed: int, n: int) -> str:
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), n))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("genome")
    one, other = bases(1, 6000), bases(2, 3000)
    (folder / "g.fa").write_text(f">chr1 the first\n{one}\n>tiny\nACGT\n>{'n' * 40}\n{other}\n")
    gangsaw.compress(folder / "g.fa", folder / "g.zarr", format="genome")
    return folder / "g.zarr"


def test_bits_per_base_are_drawn_with_records(store: Path) -> None:
    (axes,) = (figure := gangsaw.plot(store)).axes
    assert figure.get_suptitle().startswith("sequence: 9004 uint8")
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("bits/base", "position in the genome, kb")
    names = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert names.pop("chr1") == 3
    assert names.pop("n" * 17 + "…") == pytest.approx((6.004 + 9.004) / 2)
    assert [text for text in names if not text.startswith("mean")] == []
    borders = [float(line.get_xdata()[0]) for line in axes.lines if line.get_linestyle() == "-"]
    assert borders == [6, 6.004]
    steps = axes.patches[0].get_data()
    (residues,) = (a for a in gangsaw.info(store).arrays if a.name == "sequence")
    assert residues.block_bits is not None
    np.testing.assert_array_equal(steps.values, residues.block_bits.bits)
    assert 1.9 < steps.values[0] < 2.2


def test_the_largest_records_are_named() -> None:
    assert named_records(np.array([0])) == []
    assert named_records(np.array([0, 50, 51, 100])) == [0, 2]
    assert len(named_records(np.arange(30))) == MAX_NAMES


def test_a_collection_shows_the_bytes_of_its_arrays(tmp_path: Path) -> None:
    one = bases(3, 30_000)
    for name, text in (("a", one), ("b", one[:12_000] + "A" + one[12_001:])):
        (tmp_path / f"{name}.fa").write_text(f">chr1\n{text}\n")
    gangsaw.compress([tmp_path / "a.fa", tmp_path / "b.fa"], tmp_path / "s.zarr")
    left, right = (figure := gangsaw.plot(tmp_path / "s.zarr")).axes
    assert figure.get_suptitle().startswith("2 genomes, 60,000 residues, ")
    bars = [bar.get_width() for bar in left.patches]
    assert sum(bars) == sum(a.stored_bytes for a in gangsaw.info(tmp_path / "s.zarr").arrays)
    assert left.get_yticklabels()[-1].get_text() == "known", "the residues that are stored"
    assert [bar.get_height() for bar in right.patches] == [30, 30]
    assert (right.get_ylabel(), left.get_xlabel()) == ("residues, kb", "bytes")
