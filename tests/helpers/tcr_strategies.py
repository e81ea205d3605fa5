"""Hypothesis strategies of references with their genes, short enough for the slow reference."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from gangsaw.tasks.tcr.model import Model
from helpers.tcr_cases import Case, rc_text

CONCRETE, IUPAC = "ACGT", "ACGTURYSWKMBDHVN"
Draw = Callable[[Any], Any]
Parts = tuple[str, str, str, list[str]]  # cdr3, V, J, D genes

# few letters make matches and palindromes; wildcards alone make large counts
alphabets = st.sampled_from(["A", "AT", "CG", "ACG", CONCRETE, CONCRETE, CONCRETE])
wild_alphabets = st.one_of(alphabets, st.sampled_from(["ATN", "ACGTN", "ACGTRYSWKM", IUPAC]))


@st.composite
def models(draw: Draw, kinds: tuple[str, ...] = ("dp1", "dp2", "both"), **fixed: int) -> Model:
    """Any parameters, of one D gene in a row unless it is said otherwise."""
    choices = {
        "strands": draw(st.sampled_from([1, 2])),
        "max_p": draw(st.integers(0, 4)),
        "max_n": draw(st.integers(0, 10)),
        "min_d_end": draw(st.sampled_from([0, 1])),
    }
    return Model(draw(st.sampled_from(kinds)), **(choices | fixed))


@st.composite
def cases(
    draw: Draw,
    models: st.SearchStrategy[Model] = models(),  # noqa: B008  (strategies are values)
    *,
    n_d: tuple[int, int] = (1, 3),
    longest: int = 12,
    n_references: tuple[int, int] = (1, 2),
    wild_references: bool = True,
    wild_genes: bool = True,
) -> Case:
    """References of genes that are drawn, too: joined of their parts, or of any letters."""
    model = draw(models)
    letters = draw(wild_alphabets if wild_genes else alphabets)

    def gene(most: int) -> str:
        return draw(
            st.text(letters, min_size=max(1, model.shortest), max_size=max(model.shortest, most))
        )

    d = {f"D{i}": gene(8) for i in range(draw(st.integers(*n_d)))}
    rows = []
    for _ in range(draw(st.integers(*n_references))):
        v, j = gene(6), gene(6)
        rows.append((draw(references(v, j, d, model, longest, wild_references)), v, j))
    cdr3, of_v, of_j = zip(*rows, strict=True)
    return Case("drawn", cdr3, of_v, of_j, d, model)


@st.composite
def references(
    draw: Draw, v: str, j: str, d: dict[str, str], model: Model, longest: int, wild: bool
) -> str:
    """Either any letters, or parts of the extended genes with letters between them."""
    letters = draw(wild_alphabets if wild else alphabets)
    if draw(st.booleans()):
        return draw(st.text(letters, min_size=1, max_size=longest))
    p = model.max_p
    extended_v, extended_j = v + rc_text(v)[:p], rc_text(j)[max(0, len(j) - p) :] + j
    joined = extended_v[: draw(st.integers(0, len(extended_v)))]
    for gene in d.values():
        other = rc_text(gene)
        joined += draw(st.text(letters, max_size=3))
        joined += draw(part_of(other[max(0, len(gene) - p) :] + gene + other[:p]))
    joined += draw(st.text(letters, max_size=3))
    joined += extended_j[draw(st.integers(0, len(extended_j))) :]
    joined = joined[:longest] or draw(st.sampled_from(letters))
    return joined if wild else "".join(letter if letter in CONCRETE else "A" for letter in joined)


@st.composite
def part_of(draw: Draw, text: str) -> str:
    """Any part of a text, the empty one included."""
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    return text[start:end]


def tiny(
    rng: random.Random, n_genes: int = 1, shortest: int = 1, longest: int = 3, length: int = 7
) -> tuple[Parts, dict[str, Any]]:
    """Genes of one to three symbols; few letters, so that many paths lead to the reference."""
    max_p = rng.randint(0, 2)
    letters = rng.choice(["AT", "AG", "ACGT"])

    def drawn(least: int, most: int) -> str:
        return "".join(rng.choices(letters, k=rng.randint(max(1, least), most)))

    fewest = max(max_p, shortest)
    parts = drawn(1, length), drawn(fewest, longest), drawn(fewest, longest), []
    parts[3].extend(drawn(fewest, longest) for _ in range(n_genes))
    choices = {"model": rng.choice(["dp1", "dp2", "dp2"]), "strands": rng.choice([1, 2])}
    choices |= {"max_p": max_p, "max_n": rng.randint(0, 2), "min_d_end": rng.choice([0, 1])}
    return parts, choices
