"""Floors: each import goes down by the ORDER files, and one that does not is found."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import pytest
from helpers.floor_map import floor_map, proposed
from helpers.floors import order_of, problems
from helpers.imports import REPOSITORY, Tree, package


class Mutant(NamedTuple):
    """A file that is added, or what is put at the end of one, and what has to be said of it."""

    path: str
    text: str
    problem: str


TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
INNER = "def f() -> None:\n    "
MUTANTS = {
    "a new folder without a floor": Mutant(
        "codecs/reads/fresh/a.py",
        "from gangsaw.codecs.reads import cpu",
        "codecs/reads/ORDER does not name fresh",
    ),
    "a first folder without an ORDER": Mutant(
        "tasks/genomics/align/output/fresh/a.py", "", "tasks/genomics/align/output has no ORDER"
    ),
    "the import of a new folder": Mutant(
        "tasks/genomics/align/output/fresh/b.py",
        "from gangsaw.tasks.genomics.align.job import job",
        "tasks/genomics/align/output/fresh/b.py imports tasks/genomics/align/job/job.py: "
        "job is above output in tasks/genomics/align",
    ),
    "a new file without a floor": Mutant(
        "tasks/formats/fresh.py", "", "tasks/formats/ORDER does not name fresh"
    ),
    "upward": Mutant(
        "codecs/reads/entropy/logs.py",
        "from gangsaw.codecs.reads.quality import coding as _c",
        "codecs/reads/entropy/logs.py imports codecs/reads/quality/coding.py: "
        "quality is above entropy in codecs/reads",
    ),
    "upward in a function": Mutant(
        "codecs/dna/letters/numbers.py",
        f"{INNER}from gangsaw.codecs.dna import payload",
        "codecs/dna/letters/numbers.py imports codecs/dna/payload.py: "
        "payload is above letters in codecs/dna",
    ),
    "upward for type checkers": Mutant(
        "tasks/store/objects/prefix.py",
        f"{TYPES}from gangsaw.tasks.jobs import compress",
        "tasks/store/objects/prefix.py imports tasks/jobs/compress.py: jobs is above "
        "store in tasks",
    ),
    "one floor": Mutant(
        "codecs/visibility/fast/tiling/modes.py",
        "from gangsaw.codecs.visibility.dense import narrow as _n",
        "codecs/visibility/fast/tiling/modes.py imports codecs/visibility/dense/narrow.py: "
        "fast and dense are on one floor of codecs/visibility",
    ),
    "upward by import_module": Mutant(
        "tasks/engine/scheduling/batch_size.py",
        'import importlib\nM = importlib.import_module("gangsaw.tasks.jobs.compress")',
        "tasks/engine/scheduling/batch_size.py imports tasks/jobs/compress.py: jobs is "
        "above engine in tasks",
    ),
    "upward by import_module from here": Mutant(
        "tasks/engine/run/run.py",
        "from importlib import import_module\n"
        'M = import_module("...jobs.verification.verify", __package__)',
        "tasks/engine/run/run.py imports tasks/jobs/verification/verify.py: "
        "jobs is above engine in tasks",
    ),
    "a loose file upward": Mutant(
        "codecs/visibility/params.py",
        f"{INNER}from gangsaw.codecs.visibility.fast import plan",
        "codecs/visibility/params.py imports codecs/visibility/fast/plan.py: "
        "fast is above params in codecs/visibility",
    ),
    "upward, relative": Mutant(
        "codecs/reads/entropy/logs.py",
        "from ..quality import tokens",
        "codecs/reads/entropy/logs.py imports codecs/reads/quality/tokens.py: "
        "quality is above entropy in codecs/reads",
    ),
    "a wave that knows its coder": Mutant(
        "codecs/ccsds123/wave/wavefront.py",
        f"{INNER}from gangsaw.codecs.ccsds123.sample import decoder",
        "codecs/ccsds123/wave/wavefront.py imports codecs/ccsds123/sample/decoder.py: "
        "sample is above wave in codecs/ccsds123",
    ),
    "a header of one floor": Mutant(
        "codecs/dna/letters/pack.cuh",
        '#include "../dense/model/models.cuh"',
        "codecs/dna/letters/pack.cuh imports codecs/dna/dense/model/models.cuh: "
        "letters and dense are on one floor of codecs/dna",
    ),
    "a 13th file": Mutant(
        "cluster/dashboard/more.py", "X = 1", "cluster/dashboard has 13 files and no folders"
    ),
    "through the public names above": Mutant(
        "tasks/tcr/counting/kernels/tables.py",
        f"{INNER}from gangsaw.tasks.tcr import count_paths",
        "tasks/tcr/counting/kernels/tables.py imports tasks/tcr/__init__.py: "
        "__init__ is above counting in tasks/tcr",
    ),
    "a search that reports": Mutant(
        "tasks/genomics/align/search/hits.py",
        "from gangsaw.tasks.genomics.align.output import report",
        "tasks/genomics/align/search/hits.py imports tasks/genomics/align/output/report.py: "
        "output is above search in tasks/genomics/align",
    ),
    "in the core": Mutant(
        "codecs/core/numba/words.py",
        "from gangsaw.codecs.core.container import grid",
        "codecs/core/numba/words.py imports codecs/core/container/grid.py: "
        "container is above numba in codecs/core",
    ),
    "a domain of a domain": Mutant(
        "tasks/radio/rows.py",
        "from gangsaw.tasks.genomics.genomes.stored import fasta_text as text",
        "tasks/radio/rows.py imports tasks/genomics/genomes/stored/fasta_text.py: "
        "radio and genomics are on one floor of tasks",
    ),
    "a codec of a codec": Mutant(
        "codecs/dna/params.py",
        "from gangsaw.codecs.reads import params as _p",
        "codecs/dna/params.py imports codecs/reads/params.py: "
        "dna and reads are on one floor of codecs",
    ),
    "behind the public names": Mutant(
        "tasks/genomics/align/job/job.py",
        "from gangsaw.tasks.genomics.reads.order import steps",
        "tasks/genomics/align/job/job.py imports tasks/genomics/reads/order/steps.py: "
        "order/steps is not public in tasks/genomics/reads",
    ),
    "a name twice": Mutant("codecs/dna/ORDER", "letters", "codecs/dna/ORDER names letters twice"),
    "a stale name": Mutant(
        "codecs/visibility/ORDER", "gone", "codecs/visibility/ORDER names gone, which is not there"
    ),
    "a stale public name": Mutant(
        "tasks/tcr/ORDER",
        "public: gone",
        "tasks/tcr/ORDER makes gone public, which is not there",
    ),
    "one half of a circle": Mutant(
        "tasks/console/left.py",
        "from gangsaw.tasks.console import right",
        "circle of tasks/console/left.py, tasks/console/right.py",
    ),
    "the other half, for type checkers": Mutant(
        "tasks/console/right.py",
        f"{TYPES}from .left import X",
        "circle of tasks/console/left.py, tasks/console/right.py",
    ),
}


def changed(tree: Tree, *mutants: Mutant) -> Tree:
    found = dict(tree)
    for mutant in mutants:
        found[mutant.path] = f"{found.get(mutant.path, '')}\n{mutant.text}\n"
    return found


@cache
def of_mutants() -> Mapping[str, int]:
    """How often each problem is told of a tree with all mutants, but what the package has."""
    found: dict[str, int] = defaultdict(int)
    for problem in problems(changed(package(), *MUTANTS.values())):
        found[problem] += problem not in problems_of_package()
    return found


@cache
def problems_of_package() -> frozenset[str]:
    return frozenset(problems(package()))


def test_each_import_goes_down() -> None:
    """`python tests/print_floors.py FOLDER` prints the ORDER that imports allow."""
    assert not problems_of_package()


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_found_for_its_reason(name: str) -> None:
    assert of_mutants()[MUTANTS[name].problem] == 1


def test_nothing_else_is_said_of_mutants() -> None:
    """They are in one tree, and close circles together."""
    expected = {mutant.problem for mutant in MUTANTS.values()}
    others = {problem for problem, times in of_mutants().items() if times} - expected
    assert not {problem for problem in others if not problem.startswith("circle of")}


def test_a_domain_says_what_is_public() -> None:
    """A domain is what brings entries of our tables and is no part of all jobs."""
    tables = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["entry-points"]
    found = re.findall(r"gangsaw\.tasks\.((?:genomics\.)?\w+)", str(tables))
    domains = {name.replace(".", "/") for name in found} - {"console", "formats"}
    assert len(domains) > 5
    assert all(order_of(package(), f"tasks/{name}").public is not None for name in domains)


def test_the_map_is_that_of_the_orders() -> None:
    """`python tests/print_floors.py` prints it."""
    assert f"\n\n{floor_map(package())}\n" in (REPOSITORY / "CONTRIBUTING.md").read_text()


def test_a_proposed_order_is_right() -> None:
    tree = {
        "a/__init__.py": "from gangsaw.a.b import c",
        "a/top.py": "from gangsaw.a.b import c",
        "a/b/c.py": "from gangsaw.a import low",
        "a/low.py": "",
    }
    assert proposed(tree, "a") == "top\nb\nlow\n"
    assert not problems({**tree, "a/ORDER": proposed(tree, "a"), "ORDER": "a"})


def test_names_of_a_circle_are_proposed_together() -> None:
    tree = {"a/b/c.py": "from gangsaw.a import d", "a/d.py": "from gangsaw.a.b import c"}
    assert proposed(tree, "a") == "b d\n"
