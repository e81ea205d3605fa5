"""Calls of repertoires, and the germline parts that they mean."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline import (
    AMBIGUOUS,
    MISSING,
    OTHER_LOCUS,
    UNKNOWN,
    Germline,
    Part,
    Resolver,
    d_pairs_with_j,
    open_germline,
)
from gangsaw.tasks.tcr.germline.names import gene_name

V = [
    *("TRBV5-4*01", "TRBV5-4*02", "TRBV6-2*01", "TRBV6-3*01", "TRBV6-5*01", "TRBV7-9*03"),
    *("TRBV7-9*01", "TRBV12-3*01", "TRBV12-4*01", "TRBV14*02", "TRBV14*03", "TRBV28*01"),
    *("TRBV20-1*01", "TRBV20/OR9-2*01"),
]
PART_OF_TWO = {"TRBV6-3*01": "TRBV6-2*01", "TRBV12-4*01": "TRBV12-3*01"}
SPELLED = "ACGT"


def part(name: str) -> Part:
    """A part of its own for each name but those of PART_OF_TWO."""
    at = V.index(PART_OF_TWO.get(name, name))
    return Part(name, "GCCAGC" + SPELLED[at // 4] + SPELLED[at % 4])


@pytest.fixture
def human() -> Resolver:
    return Resolver([part(name) for name in V])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("TRBV6-2*01", "TRBV6-2*01"),
        ("TRBV6-2", "TRBV6-2*01"),
        ("trbv6-2*01", "TRBV6-2*01"),
        (" TRBV6-2 ", "TRBV6-2*01"),
        ("TRBV5-4*02", "TRBV5-4*02"),
        ("TRBV7-9", "TRBV7-9*01"),  # not the first in the source
        ("TRBV14", "TRBV14*02"),  # the lowest there is
        ("TRBV14*00", "TRBV14*02"),
        # lists of one part: the first
        ("TRBV6-2*01,TRBV6-3*01", "TRBV6-2*01"),
        ("TRBV6-3*01, TRBV6-2*01", "TRBV6-3*01"),
        ("TRBV6-2 or TRBV6-3", "TRBV6-2*01"),
        ("TRBV6-2;TRBV6-3", "TRBV6-2*01"),
        ("TRBV6-2|TRBV6-3", "TRBV6-2*01"),
        ("TRBV6-2/TRBV6-3", "TRBV6-2*01"),
        ("TRBV6-2/6-3", "TRBV6-2*01"),
        ("TRBV6-2/3", "TRBV6-2*01"),
        ("TRBV6-2*01,TRBV6-2*01", "TRBV6-2*01"),
        # MiXCR
        ("TRBV12-3*00(1211.4),TRBV12-4*00(1211.2)", "TRBV12-3*01"),
        ("TRBV28*00(1200)", "TRBV28*01"),
        # immunoSEQ
        ("TCRBV05-04*02", "TRBV5-4*02"),
        ("TCRBV05-04", "TRBV5-4*01"),
        ("TCRBV05", "TRBV5-4*01"),  # one gene of this family here
        ("TCRBV12", "TRBV12-3*01"),  # two, of one part
        ("TCRBV28-01", "TRBV28*01"),
        ("TCRBV28", "TRBV28*01"),
        ("TCRBV20", "TRBV20-1*01"),
        ("TCRBV20-01*01", "TRBV20-1*01"),
        ("TCRBV20-or09_02", "TRBV20/OR9-2*01"),
        ("TCRBV12-03/12-04*01", "TRBV12-3*01"),
        # IMGT/HighV-QUEST, and IgBLAST over IMGT's headers
        ("Homsap TRBV7-9*01 F", "TRBV7-9*01"),
        ("Homsap TRBV6-2*01 F, or Homsap TRBV6-3*01 (F)", "TRBV6-2*01"),
        ("M11951|TRBV7-9*03|Homo sapiens|F|V-REGION", "TRBV7-9*03"),
    ],
)
def test_call(human: Resolver, call: str, name: str) -> None:
    assert human.find(call) == V.index(name)
    assert human.detail(call) == ""


@pytest.mark.parametrize(
    "call", ["", " ", ".", "-", "None", "NA", "N/A", "nan", "no data", "unresolved", "null"]
)
def test_empty_call(human: Resolver, call: str) -> None:
    assert human.find(call) == MISSING


@pytest.mark.parametrize(
    ("call", "code", "why"),
    [
        ("TRBV6-9", UNKNOWN, "TRBV6-9 is not in the germline; near to it: TRBV"),
        ("TRBV6-2*07", UNKNOWN, "TRBV6-2*07 is not in the germline, which has TRBV6-2*01"),
        ("TRBV6-21", UNKNOWN, "TRBV6-21 is not in the germline"),
        ("TRBJ1-1", UNKNOWN, "TRBJ1-1 is no V gene"),
        ("mouse", UNKNOWN, "'mouse' is no name of a gene"),
        ("TRBV", UNKNOWN, "TRBV is no name of a gene"),
        ("TRBV6-2**01", UNKNOWN, "TRBV6-2**01 is no name of a gene"),
        ("TRBC1", UNKNOWN, "'TRBC1' is no name of a gene"),
        ("TCRBV06-X", AMBIGUOUS, "can be TRBV6-2*01, TRBV6-3*01, TRBV6-5*01"),
        ("TCRBV06", AMBIGUOUS, "can be TRBV6-2*01, TRBV6-3*01, TRBV6-5*01"),
        ("TRBV6-2,TRBV6-5", AMBIGUOUS, "can be TRBV6-2*01, TRBV6-5*01"),
        ("TRBV5-4*01,TRBV5-4*02", AMBIGUOUS, "can be TRBV5-4*01, TRBV5-4*02"),
        ("TRBV6-2*01,TRBV6-2*07", AMBIGUOUS, "TRBV6-2*07 is not in the germline"),
        ("TRBV6-2*01,TRAV1-1", AMBIGUOUS, "TRAV1-1 is not of TRB"),
        ("TCRBV06,TRBV99", AMBIGUOUS, "can be TRBV6-2*01, TRBV6-3*01, TRBV6-5*01; TRBV99 is not"),
        ("TRAV1-1*01", OTHER_LOCUS, "TRAV1-1*01 is not of TRB"),
        ("TRAV29/DV5", OTHER_LOCUS, "TRAV29/DV5 is not of TRB"),
        ("IGHV3-23*01", OTHER_LOCUS, "IGHV3-23*01 is not of TRB"),
        ("TRAV1-1,TRBV99", UNKNOWN, "TRAV1-1 is not of TRB; TRBV99 is not in the germline"),
    ],
)
def test_call_without_part(human: Resolver, call: str, code: int, why: str) -> None:
    assert human.find(call) == code
    assert why in human.detail(call)


def test_first_of_a_list_that_differs() -> None:
    human = Resolver([part(name) for name in V], on_ambiguous="first")
    assert human.find("TRBV6-5,TRBV6-2") == V.index("TRBV6-5*01")
    assert human.find("TRBV99,TRBV6-2") == V.index("TRBV6-2*01")
    assert human.find("TCRBV06") == AMBIGUOUS  # a family is no list


def test_gene_for_an_unknown_allele() -> None:
    human = Resolver([part(name) for name in V], on_unknown_allele="gene")
    assert human.find("TRBV7-9*77") == V.index("TRBV7-9*01")
    assert human.find("TRBV99*01") == UNKNOWN


@pytest.mark.parametrize("choice", ["on_ambiguous", "on_unknown_allele"])
def test_unknown_choice(choice: str) -> None:
    with pytest.raises(BadParams, match=f"{choice} must be drop or [a-z]+, got 'last'"):
        Resolver([], **{choice: "last"})  # type: ignore[arg-type]


ALPHA = [Part("TRAV29/DV5*01", "GCAGCAAGCG"), Part("TRAV14/DV4*02", "GCAATGAGAGAG")]


@pytest.mark.parametrize(
    ("call", "index"),
    [
        *(("TRAV29/DV5", 0), ("TRAV29DV5", 0), ("TRAV29DV5*01", 0), ("TRAV29", 0), ("TRDV5", 0)),
        *(("TRAV29-DV5", 0), ("TCRAV29-01*01", 0), ("TRAV14/DV4", 1), ("TRAV14", 1), ("TRDV4", 1)),
    ],
)
@pytest.mark.parametrize("locus", ["TRA", "TRD"])
def test_genes_of_two_loci(call: str, index: int, locus: str) -> None:
    assert Resolver(ALPHA, locus=locus).find(call) == index


def test_other_locus_of_genes_of_two() -> None:
    alpha = [*ALPHA, Part("TRAV1-1*01", "GCTGTGAGAGA")]
    delta = [*ALPHA, Part("TRDV1*01", "GCTCTTGGGGAACT")]
    assert Resolver(alpha).locus == "TRA"
    assert Resolver(delta).locus == "TRD"
    assert Resolver(alpha).find("TRDV1*01") == OTHER_LOCUS
    assert Resolver(delta).find("TRAV1-1*01") == OTHER_LOCUS


def test_parts_of_two_loci() -> None:
    with pytest.raises(BadParams, match="parts of several loci"):
        Resolver([Part("TRAV1-1*01", "GCT"), Part("TRBV2*01", "GCC")])


def test_part_without_a_name() -> None:
    with pytest.raises(BadParams, match="'my gene' is no name of a gene such as TRBV6-2"):
        Resolver([Part("my gene", "GCT")])


def test_gene_left_out_of_the_germline() -> None:
    why = "TRBV7-1*01 left out: no conserved Cys found"
    human = Resolver([part(name) for name in V], notes=[why, "TRBV28*01 was reverse-complemented"])
    for call in ("TRBV7-1*01", "TRBV7-1", "TCRBV07-01*01"):
        assert human.find(call) == UNKNOWN
        assert human.detail(call) == why


def test_reason_is_short_however_long_the_call(human: Resolver) -> None:
    for call in ("TRBV" + "9" * 5000, ",".join(f"TRBV{i}" for i in range(100, 3000)), "x" * 9999):
        assert human.find(call) == UNKNOWN
        assert 20 < len(human.detail(call)) <= 300


def test_no_parts() -> None:
    none = Resolver([], locus="TRA")
    assert none.find("") == MISSING
    assert none.find("TRBD1") == OTHER_LOCUS
    assert none.find("TRAV1-1") == UNKNOWN


def test_pairs_of_d_and_j() -> None:
    pairs = d_pairs_with_j(
        ["TRBD1*01", "TRBD2*01", "TRBD2*02"], ["TRBJ1-1*01", "TRBJ1-6*02", "TRBJ2-1*01", "TRBJ2-7"]
    )
    assert pairs.dtype == bool
    np.testing.assert_array_equal(pairs, [[1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]])
    assert d_pairs_with_j(["TRDD2*01"], ["TRDJ1*01"]).all()
    assert d_pairs_with_j(["any"], ["name"]).all()
    assert d_pairs_with_j([], ["TRAJ1*01"]).shape == (0, 1)


@pytest.fixture(scope="module")
def models() -> list[Germline]:
    """The germlines of olga's models of T cells."""
    pytest.importorskip("olga", reason="the extra tcr is not installed")
    return [
        open_germline("olga", locus=locus, species=species)
        for locus in ("TRA", "TRB")
        for species in ("human", "mouse")
    ]


def immunoseq(name: str) -> str:
    """TCRBV06-02*01 for TRBV6-2*01."""
    gene, _, allele = name.replace("TR", "TCR").partition("*")
    head, numbers = gene[:5], gene[5:].split("-")
    return head + "-".join(n.zfill(2) if n.isdigit() else n for n in numbers) + "*" + allele


SPELLINGS = {
    "IMGT": str,
    "lower case": str.lower,
    "HighV-QUEST": lambda name: f"Homsap {name} F",
    "MiXCR": lambda name: f"{name}(811.3)",
    "no slash": lambda name: name.replace("/", ""),
    "immunoSEQ": immunoseq,
    "twice": lambda name: f"{name},{name}",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_gene_of_olga_in_every_spelling(models: list[Germline], spelling: str) -> None:
    for germline in models:
        for region in ("V", "D", "J"):
            resolver = germline.resolver(region)
            calls = [SPELLINGS[spelling](part.name) for part in resolver.parts]
            assert [resolver.find(call) for call in calls] == list(range(len(calls)))


@given(call=st.text(max_size=40) | st.from_regex(r"(TR[ABGD][VDJ][0-9/,*DVOR-]{0,12}[ ,;|]?)+"))
def test_any_text_has_an_answer(call: str) -> None:
    """Never an exception; a reason wherever there is no part, but for empty calls."""
    human = Resolver([part(name) for name in V])
    found = human.find(call)
    assert OTHER_LOCUS <= found < len(V)
    assert bool(human.detail(call)) == (found < MISSING)


@given(names=st.lists(st.sampled_from(V), min_size=1, max_size=4), between=st.sampled_from(",;|"))
def test_list_is_one_part_or_ambiguous(names: list[str], between: str) -> None:
    human = Resolver([part(name) for name in V])
    found = human.find(between.join(names))
    alike = len({part(name).sequence for name in names}) == 1
    assert found == (V.index(names[0]) if alike else AMBIGUOUS)


def test_many_calls_do_not_fill_the_memory(human: Resolver) -> None:
    for score in range(1000):
        assert human.find(f"TRBV28*00({score}.5)") == V.index("TRBV28*01")
    assert len(human._found) == 1
    for number in range(70_000):
        assert human.find(f"read {number}") == UNKNOWN
    assert len(human._found) <= 1 << 16


def test_resolver_can_be_sent_to_workers(human: Resolver) -> None:
    assert pickle.loads(pickle.dumps(human)).find("TRBV28") == V.index("TRBV28*01")


@given(
    st.lists(st.from_regex(r"TR[AG]V[A-C]?[0-9]{1,2}(-[0-9])?(DV[0-9])?\*0[1-9]", fullmatch=True))
)
def test_names_have_an_order(names: list[str]) -> None:
    """Whatever their letters and numbers: TRGVA, TRGVA1."""
    genes = [gene for gene in map(gene_name, [*names, "TRGVA*01"]) if gene]
    assert sorted(gene.order for gene in genes) == sorted(gene.order for gene in reversed(genes))


def test_a_table_of_unknown_names_is_not_held_against_all_parts_for_ever() -> None:
    resolver = Resolver([Part("TRBV6-2*01", "GCC")])
    details = [resolver.detail(f"TRBV6-{gene}") for gene in range(20, 320)]
    assert "near to it: TRBV6-2*01" in details[0]
    assert details[-1] == "TRBV6-319 is not in the germline"
