"""Path counting as a pure function: strings in, a dataset out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack, cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.device import backend
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import SET_OF_LETTER
from gangsaw.codecs.core.ragged import RaggedArray, offsets_of
from gangsaw.tasks.tcr.counting import kernels
from gangsaw.tasks.tcr.counting.kernels.batch import Batch, Counts, check_lengths
from gangsaw.tasks.tcr.counting.kernels.wide import cpu as wide
from gangsaw.tasks.tcr.counting.paths.arrays import are_arrays, count_arrays
from gangsaw.tasks.tcr.counting.paths.bounds import countable
from gangsaw.tasks.tcr.counting.paths.dataset import arrays, to_dataset
from gangsaw.tasks.tcr.counting.paths.distinct import distinct, expand_counts, select_references
from gangsaw.tasks.tcr.counting.paths.lacking import forget_lacking
from gangsaw.tasks.tcr.germline.genotypes.table import read_genotypes
from gangsaw.tasks.tcr.germline.parts import Part
from gangsaw.tasks.tcr.model import MAX_D, MAX_N, MAX_P, Kind, Model, ModelLimits
from gangsaw.tasks.tcr.model.nucleotides import Codes, decoded, strict

if TYPE_CHECKING:
    import dask.array
    import xarray

    Texts: TypeAlias = Sequence[str] | dask.array.Array | xarray.DataArray

CountFunction = Callable[[Batch, Model], Counts]
Lengths = npt.NDArray[np.int64]
BEYOND_VECTORS = f"max_p over {MAX_P} and max_n over {MAX_N}"
MAX_PART = 32_767  # limit of V and J: their lengths are int16 in the result


def count_paths(
    cdr3: Texts,
    v: str | Texts,
    j: str | Texts,
    d: Mapping[str, str] | None = None,
    *,
    model: Kind = "dp2",
    genotypes: str | Path | None = None,
    sample: str | Sequence[str] | None = None,
    **limits: Unpack[ModelLimits],
) -> xarray.Dataset:
    """Count the recombination paths that lead to each CDR3.

    Sequences are IUPAC nucleotide codes in either case.

    Parameters
    ----------
    cdr3 : sequence or array of str
        Nucleotides of each reference, without the conserved codons of Cys and Phe/Trp: any sequence
        of strings, or a Dask or xarray array of any dimensions.
    v : str, or sequence or array of str
        Germline V after its Cys codon: one for all references, or one for each.
    j : str, or sequence or array of str
        Germline J before its Phe or Trp codon: one for all references, or one for each.
    d : dict, optional
        Germline D genes by name; none for a V-J chain.
    model : {"dp2", "dp1", "both"}, default "dp2"
        Kind of the model.
    genotypes : path, optional
        Table of donors' alleles, with the columns sample_id, gene and alleles. D genes that a donor
        lacks do not count.
    sample : str or sequence of str, optional
        Sample of each reference, which selects the genotype: one for all, or one for each.
    **limits : int or "all"
        Parameters strands, max_p, max_n, d_segments and min_d_end, with the defaults of `Model`.
        "all" is for max_p, palindromes as long as the gene, and max_n, any number of n-nucleotides.

    Returns
    -------
    xarray.Dataset
        Counts and calls, references in their order. For a DataArray it has its dimensions and
        coordinates; it is lazy if an input is lazy.

    Raises
    ------
    BadParams
        A parameter, reference or gene cannot be counted; the message names it.

    See Also
    --------
    count_repertoires : Count the rows of files.

    Notes
    -----
    tasks/tcr/SPEC.md defines the paths, after the founding thesis of the method, chapters 5 and 6.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> paths = tcr.count_paths(
    ...     ["ACCTGCAGTGCAGACCTGGGGAACACAGAAGTCTTC"],
    ...     v="ACCTGCAGTGCAGA",
    ...     j="CAAACACAGAAGTCTTC",
    ...     d={"TRBD1": "GGGACAGGGGGC"},
    ... )
    >>> int(paths["paths_full"].sel(n_nucleotides=10, p_nucleotides=4, d_gene="TRBD1")[0])
    8392000
    """
    chosen, genes = Model.of(model, **limits), {} if d is None else d
    if are_arrays(cdr3, v, j):
        _d_genes(genes, chosen)
        if not (sample is None or isinstance(sample, str)):
            raise BadParams("of arrays all references must be of one sample")
        own = partial(count_paths, d=d, model=model, genotypes=genotypes, sample=sample, **limits)
        return count_arrays(own, cdr3, v, j, genes, chosen)
    batch = make_batch(cast("Sequence[str]", cdr3), cast("str", v), cast("str", j), genes, chosen)
    _refuse_uncountable(batch, chosen)
    has = _has_d(genotypes, sample, genes, len(batch.references))
    values = arrays(count_distinct(batch, chosen), chosen, batch.d.lengths.tolist())
    if has is not None:
        forget_lacking(values, has, chosen)
    return to_dataset(values, chosen, list(genes))


def _has_d(
    table: str | Path | None, sample: str | Sequence[str] | None, d: Mapping[str, str], n: int
) -> npt.NDArray[np.bool_] | None:
    """Return a mask (n, D genes) of the genes that donors have; None without genotypes."""
    if (table is None) != (sample is None):
        raise BadParams("a table of genotypes and the sample of each reference go together")
    if table is None or sample is None:
        return None
    samples = [sample] * n if isinstance(sample, str) else _listed("sample", sample)
    if len(samples) != n:
        raise BadParams(f"sample must be one, or one for each of the {n} references")
    found = read_genotypes(table, {"D": [Part(name, text) for name, text in d.items()]})
    places = {name: found.of(name) for name in dict.fromkeys(samples)}
    has = np.ones((n, len(d)), np.bool_)
    for row, name in enumerate(samples):
        has[row, list(places[name].d)] = False
    return has


def _refuse_uncountable(batch: Batch, model: Model) -> None:
    if wrong := np.flatnonzero(~countable(batch, model)).tolist():
        text = decoded(batch.references[wrong[0]])
        raise BadParams(
            f"reference {wrong[0]}: the paths to {text} exceed 64 bits, for it has too many "
            f"wildcards; leave it out, or lower max_n ({model.max_n}) or max_p ({model.max_p})"
        )


def count_batch(batch: Batch, model: Model) -> Counts:
    """Count on the device of the batch, CPU or GPU; wide sweeps run only on the CPU."""
    if model.is_wide:
        if not isinstance(batch.references.data, np.ndarray):
            raise BadParams(f"{BEYOND_VECTORS} are counted on the CPU: hand over NumPy arrays")
        return wide.count_wide(batch, model)
    counts: Counts = backend(batch.references.data, kernels.__name__).count(batch, model)
    return counts


def count_distinct(batch: Batch, model: Model, function: CountFunction = count_batch) -> Counts:
    """Count a batch in host memory; equal references with equal genes are counted once.

    Parameters
    ----------
    batch : NumPy arrays
    model : limits of the paths
    function : counts a batch; `gpu.count_hosted` uses the GPU of this process
    """
    rows, same = distinct(batch)
    if len(rows) == len(same):
        return function(batch, model)
    return expand_counts(function(select_references(batch, rows), model), same)


def make_batch(
    cdr3: Sequence[str],
    v: str | Sequence[str],
    j: str | Sequence[str],
    d: Mapping[str, str],
    model: Model,
) -> Batch:
    """Check and encode the arguments of `count_paths`.

    Raises
    ------
    BadParams : see `count_paths`
    """
    if isinstance(cdr3, str | bytes):
        raise BadParams(
            "cdr3 must be a sequence of strings, one for each reference; got one string"
        )
    references = encode_references(_listed("cdr3", cdr3))
    v_parts, v_of = _parts("V", v, len(references), model)
    j_parts, j_of = _parts("J", j, len(references), model)
    return Batch(references, v_parts, j_parts, v_of, j_of, _d_genes(d, model))


def _listed(what: str, texts: object) -> list[str]:
    """Return the strings of an iterable or an Arrow, NumPy or xarray array as a list."""
    if not isinstance(texts, Iterable) or getattr(texts, "ndim", 1) != 1:
        got = f"{getattr(texts, 'ndim', '')} dimensions of " if isinstance(texts, Iterable) else ""
        raise BadParams(f"{what} must be a sequence of strings; got {got}{type(texts).__name__}")
    if hasattr(texts, "to_pylist"):
        listed: list[str] = texts.to_pylist()
        return listed
    return list(texts.to_numpy() if hasattr(texts, "to_numpy") else texts)


def encode_references(cdr3: Sequence[str]) -> RaggedArray:
    """Encode all references at once, and name the first one that cannot be counted.

    Raises
    ------
    BadParams : one is no string, is empty, is longer than MAX_LENGTH or has an invalid character
    """
    try:
        joined = "".join(cdr3)
    except TypeError as error:
        at = next(i for i, text in enumerate(cdr3) if not isinstance(text, str))
        raise BadParams(f"reference {at}: the CDR3 must be a string, got {cdr3[at]!r}") from error
    lengths = np.fromiter(map(len, cdr3), np.int64, len(cdr3))
    starts = offsets_of(lengths)
    codes = SET_OF_LETTER[np.frombuffer(joined.encode("latin-1", "replace"), np.uint8)]
    check_lengths(starts)
    if not lengths.all() or not codes.all():
        at = _first_wrong(codes, lengths, starts)
        strict(cdr3[at], f"reference {at}: the CDR3")
    return RaggedArray(codes, starts)


def _first_wrong(codes: Codes, lengths: Lengths, starts: Lengths) -> int:
    """Return the index of the first reference that is empty or has an invalid code (0)."""
    empty = np.flatnonzero(lengths == 0)[:1].tolist()
    wrong = np.flatnonzero(codes == 0)[:1]
    holding = (np.searchsorted(starts, wrong, "right") - 1).tolist()
    first: int = min(empty + holding)
    return first


def _parts(
    gene: str, parts: str | Sequence[str], n: int, model: Model
) -> tuple[RaggedArray, npt.NDArray[np.int32]]:
    """Return the distinct germline parts, encoded, and the index of each reference's part (n,)."""
    if isinstance(parts, str):
        return _encoded_parts([parts], [f"the {gene} part"], model), np.zeros(n, np.int32)
    if isinstance(parts, bytes) or parts is None:
        raise BadParams(f"{gene.lower()} must be a string or a sequence of them, got {parts!r}")
    texts = _listed(gene.lower(), parts)
    if len(texts) != n:
        raise BadParams(
            f"{gene.lower()} must be one string or one for each of the {n} references; "
            f"got {len(texts)}"
        )
    for at, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadParams(f"reference {at}: the {gene} part must be a string, got {text!r}")
    number: dict[str, int] = {}
    part_of = np.fromiter((number.setdefault(text, len(number)) for text in texts), np.int32, n)
    firsts = np.unique(part_of, return_index=True)[1].tolist()
    names = [f"reference {at}: the {gene} part" for at in firsts]
    return _encoded_parts(list(number), names, model), part_of


def _encoded_parts(texts: list[str], names: list[str], model: Model) -> RaggedArray:
    own = zip(texts, names, strict=True)
    return RaggedArray.from_rows(
        [_part(text, what, model.shortest, MAX_PART) for text, what in own]
    )


def _part(text: str, what: str, shortest: int, longest: int) -> Codes:
    """Encode a germline part; raise `BadParams` if its length is not in shortest..longest."""
    if not isinstance(text, str):
        raise BadParams(f"{what} must be a string of nucleotides, got {text!r}")
    codes = strict(text, what)
    if len(codes) < shortest:
        raise BadParams(
            f"{what} has {len(codes)} nucleotides, fewer than max_p = {shortest}: "
            "its palindrome is unknown"
        )
    if len(codes) > longest:
        raise BadParams(f"{what} has {len(codes)} nucleotides; at most {longest} are counted")
    return codes


def _d_genes(d: Mapping[str, str], model: Model) -> RaggedArray:
    if not isinstance(d, Mapping):
        raise BadParams(f"d must map names of D genes to sequences, got {type(d).__name__}")
    for name in d:
        if not isinstance(name, str):
            raise BadParams(f"the name of a D gene must be a string, got {name!r}")
    if model.d_segments == 2 and len(d) < 2:
        raise BadParams(f"two D genes in a row need at least 2 D genes, got {len(d)}")
    return RaggedArray.from_rows(
        [_part(text, f"D gene {name}", model.shortest, MAX_D) for name, text in d.items()]
    )
