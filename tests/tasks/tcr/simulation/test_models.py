"""Random references have the distribution that their model says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.genes.genes import Gene, WholeGenes
from gangsaw.tasks.tcr.germline.olga import model_folder
from gangsaw.tasks.tcr.pgen.olga import PgenBatch, open_model, pgen_model, pgens
from gangsaw.tasks.tcr.simulation.olga import OlgaModel, olga_model
from gangsaw.tasks.tcr.simulation.recombination import Recombinations, build_junctions
from gangsaw.tasks.tcr.simulation.references import RandomReferences, Wanted, random_references
from gangsaw.tasks.tcr.simulation.uniform import Uniform

DRAWS = 100_000
RARE = 1e-4  # a test of a fixed seed fails where chance would do so once in as many


def assert_drawn_of(seen: NDArray[Any], probabilities: NDArray[np.float64]) -> None:
    """Counts of outcomes fit probabilities, by chi-square; rare outcomes are taken together."""
    counts, wanted = np.bincount(seen, minlength=len(probabilities)), len(seen) * probabilities
    assert len(counts) == len(probabilities)
    assert not counts[wanted == 0].any()
    common = wanted >= 5
    folded = [np.append(x[common], x[~common].sum()) for x in (counts, wanted)]
    folded = [x[folded[1] > 0] for x in folded]
    if len(folded[0]) > 1:
        assert (
            stats.chisquare(folded[0], folded[1] * folded[0].sum() / folded[1].sum()).pvalue > RARE
        )


@pytest.fixture(scope="module")
def beta() -> tuple[OlgaModel, Any, Recombinations]:
    """OLGA's model of human TRB, its probabilities, and draws of ours."""
    folder = str(model_folder("TRB", "human"))
    model = OlgaModel(folder)
    return model, open_model(folder).model, model.draw(np.random.default_rng(7), DRAWS)


def kept(model: OlgaModel, p: Any) -> NDArray[np.float64]:
    """(cuts, V) probabilities of cuts that leave something of V, or 0."""
    cuts = np.arange(len(p.PdelV_given_V))[:, None]
    inside: NDArray[np.float64] = p.PdelV_given_V * (cuts < model.ends.v.lengths)
    return inside


def test_v_and_its_cuts_are_olgas(beta: tuple[OlgaModel, Any, Recombinations]) -> None:
    model, p, events = beta
    inside = kept(model, p)
    usage = p.PV * inside.sum(axis=0)
    assert_drawn_of(events.v, usage / usage.sum())
    most = int(np.bincount(events.v).argmax())
    of_v = inside[:, most] / inside[:, most].sum()
    assert_drawn_of(events.v_cut[events.v == most], of_v)


def test_d_and_j_are_olgas(beta: tuple[OlgaModel, Any, Recombinations]) -> None:
    model, p, events = beta
    long = model.ends.j.lengths > 0
    cuts = np.arange(len(p.PdelJ_given_J))[:, None] <= model.ends.j.lengths
    pair = p.PDJ * (p.PdelJ_given_J * cuts).sum(axis=0)
    assert long.any()
    assert_drawn_of(events.d * p.PDJ.shape[1] + events.j, (pair / pair.sum()).ravel())
    for d in range(len(p.PDJ)):
        both = p.PdelDldelDr_given_D[:, :, d]
        own = events.d == d
        cut = events.d_left[own] * both.shape[1] + events.d_right[own]
        assert_drawn_of(cut, (both / both.sum()).ravel())


def test_n_nucleotides_are_olgas(beta: tuple[OlgaModel, Any, Recombinations]) -> None:
    _, p, events = beta
    assert_drawn_of(events.n1_lengths, p.PinsVD / p.PinsVD.sum())
    assert_drawn_of(events.n2_lengths, p.PinsDJ / p.PinsDJ.sum())
    long = events.n1_lengths >= 2
    code = {letter: i for i, letter in enumerate(b"ACGT")}
    first, second = (np.vectorize(code.get)(events.n1[long, i]) for i in (0, 1))
    for before in range(4):
        assert_drawn_of(second[first == before], p.Rvd[:, before])
    long = events.n2_lengths >= 2
    last, other = (np.vectorize(code.get)(events.n2[long, -i]) for i in (1, 2))
    for before in range(4):  # that of D and J is a chain from J's side
        assert_drawn_of(other[last == before], p.Rdj[:, before])


@pytest.mark.parametrize(("locus", "species"), [("TRB", "human"), ("TRA", "mouse")])
def test_olga_can_make_each(locus: str, species: str) -> None:
    (found,) = random_references(olga_model(locus, species), Wanted(50, seed=5))
    names = [[gene.name for gene in genes] for genes in (found.ends.genes_v, found.ends.genes_j)]
    v, j = (
        tuple(np.array(n)[w]) for n, w in zip(names, (found.events.v, found.events.j), strict=True)
    )
    cdr3 = tuple(line[3:-3].decode() for line in found.junctions)
    values, reasons = pgens(PgenBatch(cdr3, v, j), pgen_model(locus, species))
    assert not reasons
    assert (values > 0).all()
    assert found.productive.all()


def test_lengths_are_those_of_olgas_generator() -> None:
    from olga.sequence_generation import SequenceGenerationVDJ

    opened = open_model(str(model_folder("TRB", "human")))
    drawing = SequenceGenerationVDJ(opened.model, opened.genes)
    np.random.seed(3)
    theirs = np.array([len(drawing.gen_rnd_prod_CDR3()[0]) for _ in range(2000)])
    found = random_references(olga_model("TRB", "human"), Wanted(20_000, seed=1))
    ours = np.concatenate([part.junctions.lengths for part in found])
    assert stats.ks_2samp(theirs, ours).pvalue > RARE


V = (Gene("TRBV1*01", "GC", "TGT"), Gene("TRBV2*01", "A", "TGC"))
D = (Gene("TRBD1*01", "GG"),)
J = (Gene("TRBJ1*01", "CA", "TTC"),)
OTHER = {"A": "T", "C": "G", "G": "C", "T": "A"}


def turned(text: str) -> str:
    return "".join(OTHER[letter] for letter in reversed(text))


def outcomes(genes: WholeGenes) -> Iterator[tuple[str, float]]:
    """Every junction of at most one n-nucleotide, palindrome and lost letter, and its chance."""
    n_strings = [("", 1 / 2), *((letter, 1 / 8) for letter in "ACGT")]
    for v, (n1, p1), j in product(genes.v, n_strings, genes.j):
        left = [(v.part + turned(v.part[-1:]), 1 / 3), (v.part, 1 / 3), (v.part[:-1], 1 / 3)]
        right = [(turned(j.part[:1]) + j.part, 1 / 3), (j.part, 1 / 3), (j.part[1:], 1 / 3)]
        middle = [("", 1.0)]
        if genes.d:
            (d,) = genes.d
            begins, ends = (turned(d.part[0]), "", None), (turned(d.part[-1]), "", None)
            bodies = [
                ((b or "") + d.part[b is None : len(d.part) - (e is None)] + (e or ""), 1 / 9)
                for b, e in product(begins, ends)
            ]
            middle = [(body + n2, q * p2) for (body, q), (n2, p2) in product(bodies, n_strings)]
        for (a, pa), (m, pm), (c, pc) in product(left, middle, right):
            yield v.codon + a + n1 + m + c + j.codon, pa * p1 * pm * pc / len(genes.v)


@pytest.mark.parametrize("d", [D, ()])
def test_uniform_recombination_is_uniform(d: tuple[Gene, ...]) -> None:
    genes = WholeGenes("here", "TRB", V, d, J, ())
    wanted = defaultdict[str, float](float)
    for text, chance in outcomes(genes):
        wanted[text] += chance
    model = Uniform(genes, max_n=1, max_p=1, erosion=1)
    events = model.draw(np.random.default_rng(2), DRAWS)
    seen = [line.decode() for line in build_junctions(model.ends, events)]
    place = {text: i for i, text in enumerate(wanted)}
    assert_drawn_of(np.array([place[text] for text in seen]), np.array([*wanted.values()]))
    assert sum(wanted.values()) == pytest.approx(1)


def made(**choices: Any) -> list[RandomReferences]:
    genes = WholeGenes("here", "TRB", V, D, J, ())
    return [*random_references(Uniform(genes, max_p=1), Wanted(**choices))]


def test_unproductive_ones_are_told() -> None:
    (found,) = made(n=2000, unproductive=True)
    texts = [line.decode() for line in found.junctions]
    assert found.in_frame.tolist() == [len(text) % 3 == 0 for text in texts]
    stops = [
        len(t) % 3 == 0 and any(t[i : i + 3] in ("TAA", "TAG", "TGA") for i in range(0, len(t), 3))
        for t in texts
    ]
    assert found.stop.tolist() == stops
    assert found.productive.tolist() == [
        len(t) % 3 == 0 and not stop for t, stop in zip(texts, stops, strict=True)
    ]
    assert [bool(aa) for aa in found.amino_acids.to_pylist()] == found.in_frame.tolist()


def test_batches_are_as_many_as_wanted() -> None:
    parts = made(n=3001)
    assert sum(map(len, parts)) == 3001
    assert len(parts) > 1
    assert [part.first for part in parts] == np.cumsum([0, *map(len, parts)])[:-1].tolist()
    assert all(part.productive.all() for part in parts)
    assert not made(n=0)


def test_what_is_never_productive_is_told() -> None:
    genes = WholeGenes("here", "TRB", (Gene("TRBV1*01", "TG", "AAA"),), (), J, ())
    with pytest.raises(BadParams, match="none is productive"):
        [*random_references(Uniform(genes, max_p=1), Wanted(1))]


@pytest.mark.parametrize("choice", [{"max_p": 3}, {"max_n": -1}, {"erosion": 10**6}])
def test_wrong_models(choice: dict[str, int]) -> None:
    with pytest.raises(BadParams, match=r"bases in a CDR3|must be in"):
        Uniform(WholeGenes("here", "TRB", V, D, J, ()), **choice)


@pytest.mark.parametrize("choice", [{"n": -1}, {"seed": -1}, {"depth": 0.5}])
def test_wrong_numbers(choice: dict[str, Any]) -> None:
    with pytest.raises(BadParams, match="or more"):
        Wanted(**{"n": 1, **choice})
