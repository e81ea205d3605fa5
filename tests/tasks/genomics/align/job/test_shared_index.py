"""The index beside a genome: made once, found by content, never that of another genome."""

from __future__ import annotations

import errno
import fcntl
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from helpers.align_files import lines_of, random_text, write_fasta
from helpers.command_line import CommandLine
from helpers.hang import HANG

from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.api import functions
from gangsaw.tasks.genomics.align.job import steps
from gangsaw.tasks.genomics.align.job.genome import GenomeParts, open_genome
from gangsaw.tasks.genomics.align.job.indexing import index_genome_job
from gangsaw.tasks.genomics.align.job.job import AlignChoice, AlignCuts, AlignSummary, align_job
from gangsaw.tasks.genomics.align.job.shared_index import locate_shared_index
from gangsaw.tasks.genomics.align.job.steps import MakeIndex
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs

TEXTS = [random_text(np.random.default_rng(seed), 5000) for seed in (1, 2)]
CUTS = AlignCuts(part_letters=1500, overlap=600)


def put(folder: Path, text: str) -> None:
    path = write_fasta(folder / "g.fa", {"g": text})
    functions.compress(str(path), str(folder / "g.zarr"), format="genome", overwrite=True)
    queries = {f"q{i}": own[500:700] for i, own in enumerate(TEXTS)}
    write_fasta(folder / "q.fa", queries)


def run(folder: Path, out: str = "o.paf", *, keep: bool = True) -> tuple[AlignSummary, list[str]]:
    choice = AlignChoice(overwrite=True, cuts=CUTS, keep_index=keep)
    done = align_job(
        [str(folder / "q.fa")], str(folder / "g.zarr"), str(folder / out), choice=choice
    )
    return done, [line.query for line in lines_of((folder / out).read_text())]


def test_it_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, TEXTS[0])
    done, hits = run(tmp_path)
    assert hits == ["q0"]
    assert done.index.startswith("made, ")
    with monkeypatch.context() as patch:
        patch.setattr(MakeIndex, "__call__", None)
        done, hits = run(tmp_path)
    assert hits == ["q0"]
    assert done.index.startswith("found, ")
    shutil.move(tmp_path / "g.zarr", tmp_path / "h.zarr")
    shutil.move(tmp_path / "g.zarr.seeds", tmp_path / "h.zarr.seeds")
    choice = AlignChoice(cuts=CUTS)
    out = str(tmp_path / "h.paf")
    done = align_job([str(tmp_path / "q.fa")], str(tmp_path / "h.zarr"), out, choice=choice)
    assert done.index.startswith("found, ")


def test_a_replaced_genome_has_its_own(tmp_path: Path) -> None:
    put(tmp_path, TEXTS[0])
    run(tmp_path)
    put(tmp_path, TEXTS[1])
    done, hits = run(tmp_path)
    assert hits == ["q1"]
    assert "made anew: the genome changed" in done.index
    assert len(list((tmp_path / "g.zarr.seeds").glob("*/of.json"))) == 1


def test_nothing_is_kept_on_request(tmp_path: Path) -> None:
    put(tmp_path, TEXTS[0])
    done, hits = run(tmp_path, keep=False)
    assert (hits, done.index) == (["q0"], "made for this job")
    assert not (tmp_path / "g.zarr.seeds").exists()


def test_a_build_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, TEXTS[0])
    genome = open_genome(str(tmp_path / "g.zarr"))
    cut, seeds = GenomeParts(genome.residues, 1500, 600), SearchParams().rules.seeds
    kept = locate_shared_index(genome, cut, seeds)
    assert kept is not None

    def killed(parts: StepOutputs) -> None:
        make = MakeIndex(genome, cut, seeds)
        parts.journal_records([parts.put(number, make(number)) for number in (0, 2)])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept.make(killed)
    real, made = MakeIndex.__call__, []

    def noted(self: MakeIndex, part: int) -> object:
        made.append(part)
        return real(self, part)

    monkeypatch.setattr(MakeIndex, "__call__", noted)
    assert run(tmp_path)[1] == ["q0"]
    assert sorted(made) == [1, 3]


def test_the_command(tmp_path: Path, gangsaw: CommandLine) -> None:
    put(tmp_path, TEXTS[0])
    genome, queries = tmp_path / "g.zarr", tmp_path / "q.fa"
    plan = gangsaw.ok("index-genome", genome, "--dry-run", "--json").figures
    assert plan["targets"] == [f"{genome}.seeds"]
    assert not Path(f"{genome}.seeds").exists()
    assert gangsaw.ok("index-genome", genome, "--json").figures["index"].startswith("made, ")
    assert "found, " in gangsaw.ok("index-genome", genome).out
    aligned = gangsaw.ok("align", queries, genome, tmp_path / "o.paf", "--json").figures
    assert aligned["index"].startswith("found, ")
    other = gangsaw.ok("align", queries, genome, tmp_path / "p.paf", "-k", "13", "--json").figures
    assert other["index"].startswith("made, ")


def test_two_jobs_at_once_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, TEXTS[0])
    real, made, found = MakeIndex.__call__, [], {}
    begun, both = threading.Event(), threading.Event()

    def slow(self: MakeIndex, part: int) -> object:
        made.append(part)
        begun.set()
        both.wait(HANG)
        return real(self, part)

    monkeypatch.setattr(MakeIndex, "__call__", slow)
    jobs = [
        threading.Thread(target=lambda i=i: found.update({i: run(tmp_path, f"{i}.paf")[1]}))
        for i in range(2)
    ]
    jobs[0].start()
    assert begun.wait(HANG)
    jobs[1].start()
    both.set()
    for job in jobs:
        job.join(HANG)
    assert found == {0: ["q0"], 1: ["q0"]}
    assert sorted(made) == [0, 1, 2, 3]


def test_a_genome_that_changes_meanwhile_leaves_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, TEXTS[0])
    real, lock, times = steps.indexed, threading.Lock(), []

    def changing(*args: object) -> object:
        with lock:  # parts are made at once
            if not times:
                put(tmp_path, TEXTS[1])
            times.append(1)
        return real(*args)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(steps, "indexed", changing)
        with pytest.raises(JobFailed, match="changed while"):
            run(tmp_path)
    put(tmp_path, TEXTS[0])
    assert run(tmp_path)[1] == ["q0"]


def test_damage_is_told_and_lost_files_are_made_anew(tmp_path: Path) -> None:
    put(tmp_path, TEXTS[0])
    run(tmp_path)
    part = next((tmp_path / "g.zarr.seeds").glob("*/0000001"))
    data = bytearray(part.read_bytes())
    data[-3] ^= 1
    steps.load_part.cache_clear()
    part.write_bytes(data)
    with pytest.raises((CorruptChunk, JobFailed), match="0000001 is damaged: remove"):
        run(tmp_path)
    part.unlink()
    done, hits = run(tmp_path)
    assert (hits, done.index.startswith("made")) == (["q0"], True)


def test_file_systems_without_locks_keep_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    put(tmp_path, TEXTS[0])
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refused)
        done, hits = run(tmp_path)
        assert hits == ["q0"]
        assert done.index == f"made for this job: {tmp_path} is on a file system without locks"
        with pytest.raises(BadParams, match="on a file system without locks"):
            index_genome_job(str(tmp_path / "g.zarr"))
    assert not (tmp_path / "g.zarr.seeds").exists()
    run(tmp_path)
    with monkeypatch.context() as patch:  # one that is there is read
        patch.setattr(fcntl, "flock", refused)
        assert run(tmp_path)[0].index.startswith("found, ")
