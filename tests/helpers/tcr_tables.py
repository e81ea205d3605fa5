"""Small repertoires as programs write them: one writer for each format."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gangsaw.tasks.tcr.repertoire import ROWS, open_repertoire
from helpers.zstd_frames import pzstd


@dataclass(frozen=True)
class Record:
    """A rearrangement: what all formats can say of one."""

    junction: str = "TGTGCCAGCAGTGACAGGGAACACCTTT"
    v: str = "TRBV6-2*01"
    d: str = "TRBD1*01"
    j: str = "TRBJ1-1*01"
    copies: int = 1
    id: str = ""
    sample: str = ""


Rows = Sequence[Record]


def table(columns: Mapping[str, Sequence[object]], delimiter: str = "\t", end: str = "\n") -> str:
    """Return the text of a table; fields are quoted where they must be."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerows([columns.keys(), *zip(*columns.values(), strict=True)])
    return text.getvalue()


def airr_columns(rows: Rows) -> dict[str, list[object]]:
    return {
        "sequence_id": [row.id for row in rows],
        "sequence": ["" for _ in rows],
        "rev_comp": ["F" for _ in rows],
        "productive": ["T" for _ in rows],
        "v_call": [row.v for row in rows],
        "d_call": [row.d for row in rows],
        "j_call": [row.j for row in rows],
        "junction": [row.junction for row in rows],
        "duplicate_count": [row.copies for row in rows],
        "repertoire_id": [row.sample for row in rows],
        "locus": ["TRB" for _ in rows],
    }


def airr(rows: Rows) -> str:
    return table(airr_columns(rows))


def airr_cdr3(rows: Rows) -> str:
    columns = airr_columns(rows)
    del columns["junction"]
    return table(columns | {"cdr3": [row.junction[3:-3].lower() for row in rows]})


def vdjtools(rows: Rows) -> str:
    columns = {
        "#count": [row.copies for row in rows],
        "freq": [1e-3 for _ in rows],
        "cdr3nt": [row.junction for row in rows],
        "cdr3aa": ["C" for _ in rows],
        "v": [row.v for row in rows],
        "d": [row.d or "." for row in rows],
        "j": [row.j for row in rows],
        **{name: [-1 for _ in rows] for name in ("VEnd", "DStart", "DEnd", "JStart")},
    }
    return table(columns)


def vdjtools_new(rows: Rows) -> str:
    return vdjtools(rows).removeprefix("#")


def immunarch(rows: Rows) -> str:
    columns = {
        "Clones": [row.copies for row in rows],
        "Proportion": [1e-3 for _ in rows],
        "CDR3.nt": [row.junction for row in rows],
        "CDR3.aa": ["C" for _ in rows],
        "V.name": [row.v for row in rows],
        "D.name": [row.d or "NA" for row in rows],
        "J.name": [row.j for row in rows],
        **{name: [-1 for _ in rows] for name in ("V.end", "D.start", "D.end", "J.start")},
    }
    return table(columns)


def rtcr(rows: Rows) -> str:
    """Return a table with the header of RTCR's config.ini."""
    columns = {
        "Number of reads": [row.copies for row in rows],
        "Amino acid sequence": ["C" for _ in rows],
        "V gene": [row.v for row in rows],
        "J gene": [row.j for row in rows],
        "Junction nucleotide sequence": [row.junction for row in rows],
        "V gene end position": [12 for _ in rows],
        "J gene start position": [20 for _ in rows],
        "Frame": [len(row.junction) % 3 for row in rows],
        "Number of stop codons": [0 for _ in rows],
        "Minimum Phred": [38 for _ in rows],
        "Quality": ["|".join(["38"] * len(row.junction)) for row in rows],
    }
    return table(columns)


def rtcr_old(rows: Rows) -> str:
    """Return a table as versions up to 0.2.4 wrote it."""
    columns = {
        "vid": [row.v for row in rows],
        "jid": [row.j for row in rows],
        "nt_jnc": [row.junction for row in rows],
        "orig_depth": [1 for _ in rows],
        "depth": [row.copies for row in rows],
        "ve": [12 for _ in rows],
        "js": [20 for _ in rows],
        "qvec": ["|".join(["38"] * len(row.junction)) for row in rows],
    }
    return table(columns)


def imgt(rows: Rows) -> str:
    """Return a table as 6_Junction of IMGT/HighV-QUEST; it has no copies."""
    calls = {
        name: [", or ".join(f"Homsap {gene} F" for gene in call.split(",") if gene) for call in of]
        for name, of in (
            ("V-GENE and allele", [row.v for row in rows]),
            ("J-GENE and allele", [row.j for row in rows]),
            ("D-GENE and allele", [row.d for row in rows]),
        )
    }
    columns = {
        "Sequence number": list(range(1, len(rows) + 1)),
        "Sequence ID": [row.id for row in rows],
        "V-DOMAIN Functionality": ["productive (see comment)" for _ in rows],
        **calls,
        "JUNCTION frame": ["in-frame" for _ in rows],
        "JUNCTION": [row.junction.lower() for row in rows],
    }
    return table(columns)


def tenx(rows: Rows) -> str:
    columns = {
        "barcode": ["AAAC-1" for _ in rows],
        "is_cell": ["True" for _ in rows],
        "contig_id": [row.id for row in rows],
        "chain": ["TRB" for _ in rows],
        "v_gene": [row.v or "None" for row in rows],
        "d_gene": [row.d or "None" for row in rows],
        "j_gene": [row.j or "None" for row in rows],
        "productive": ["True" for _ in rows],
        "cdr3": ["CF" for _ in rows],
        "cdr3_nt": [row.junction for row in rows],
        "reads": [row.copies * 7 for row in rows],
        "umis": [row.copies for row in rows],
    }
    return table(columns, ",")


def mixcr(rows: Rows, count: str = "readCount") -> str:
    def hits(call: str) -> str:
        return ",".join(f"{name}(340.5)" for name in call.split(",")) if call else ""

    columns = {
        "cloneId": [row.id for row in rows],
        count: [f"{row.copies}.0" for row in rows],
        "targetSequences": [row.junction for row in rows],
        "allVHitsWithScore": [f"{hits(row.v)},TRBV9*00(12)" for row in rows],
        "allDHitsWithScore": [hits(row.d) for row in rows],
        "allJHitsWithScore": [hits(row.j) for row in rows],
        "nSeqCDR3": [row.junction for row in rows],
        "aaSeqCDR3": ["CF" for _ in rows],
    }
    return table(columns)


def mixcr_old(rows: Rows) -> str:
    columns = {
        "Clone ID": [row.id for row in rows],
        "Clone count": [row.copies for row in rows],
        "N. Seq. CDR3": [row.junction for row in rows],
        "Best V hit": [row.v for row in rows],
        "Best D hit": [row.d for row in rows],
        "Best J hit": [row.j for row in rows],
    }
    return table(columns)


def immunoseq(rows: Rows) -> str:
    """Version 4: the read goes on after the CDR3."""
    columns = {
        "rearrangement": [f"GATTACA{row.junction}GGGCCG" for row in rows],
        "amino_acid": ["CF" for _ in rows],
        "templates": [row.copies for row in rows],
        "frame_type": ["In" for _ in rows],
        "cdr3_length": [len(row.junction) for row in rows],
        "v_index": [7 for _ in rows],
        **{f"{gene}_resolved": [getattr(row, gene) for row in rows] for gene in "vdj"},
        "sample_name": [row.sample for row in rows],
    }
    return table(columns)


def immunoseq_old(rows: Rows) -> str:
    columns = {
        "nucleotide": [f"GATTACA{row.junction}GGGCCG" for row in rows],
        "aminoAcid": ["CF" for _ in rows],
        "count (templates)": [row.copies for row in rows],
        "cdr3Length": [len(row.junction) for row in rows],
        **{f"{gene}MaxResolved": [getattr(row, gene) for row in rows] for gene in "vdj"},
        "vIndex": [7 for _ in rows],
        "sequenceStatus": ["In" for _ in rows],
        "sample_name": [row.sample for row in rows],
    }
    return table(columns)


def tcrdist(rows: Rows) -> str:
    columns = {
        "subject": [row.sample for row in rows],
        "count": [row.copies for row in rows],
        "v_a_gene": ["TRAV1*01" for _ in rows],
        "j_a_gene": ["TRAJ1*01" for _ in rows],
        "cdr3_a_nucseq": ["tgtttt" for _ in rows],
        "v_b_gene": [row.v for row in rows],
        "d_b_gene": [row.d for row in rows],
        "j_b_gene": [row.j for row in rows],
        "cdr3_b_nucseq": [row.junction.lower() for row in rows],
        "clone_id": [row.id for row in rows],
    }
    return table(columns, ",")


def own(rows: Rows) -> str:
    """Return a table of an unknown format; see OWN."""
    columns = {
        "name": [row.id for row in rows],
        "mouse": [row.sample for row in rows],
        "nt": [row.junction[3:-3] for row in rows],
        "V gene": [row.v for row in rows],
        "D gene": [row.d for row in rows],
        "J gene": [row.j for row in rows],
        "n": [row.copies for row in rows],
    }
    return table(columns, ";")


OWN = {
    "id": "name",
    "sample": "mouse",
    "cdr3": "nt",
    "v": "V gene",
    "d": "D gene",
    "j": "J gene",
    "copies": "n",
}

WRITERS: dict[str, Callable[[Rows], str]] = {
    "airr": airr,
    "airr_cdr3": airr_cdr3,
    "vdjtools": vdjtools,
    "vdjtools_new": vdjtools_new,
    "immunarch": immunarch,
    "rtcr": rtcr,
    "rtcr_old": rtcr_old,
    "imgt": imgt,
    "tenx": tenx,
    "mixcr": mixcr,
    "mixcr_clone_count": lambda rows: mixcr(rows, "cloneCount"),
    "mixcr_old": mixcr_old,
    "immunoseq": immunoseq,
    "immunoseq_old": immunoseq_old,
    "tcrdist": tcrdist,
    "own": own,
}
OTHERS = {"vdjtools", "vdjtools_new", "immunarch", "rtcr", "rtcr_old"}
WITHOUT_ID = {*OTHERS, "immunoseq", "immunoseq_old"}
WITHOUT_SAMPLE = {*OTHERS, "tenx", "mixcr", "mixcr_clone_count", "mixcr_old", "imgt"}


def parquet(rows: Rows) -> bytes:
    """Return the bytes of a Parquet file of AIRR columns, in small row groups."""
    sink = io.BytesIO()
    pq.write_table(pa.table(airr_columns(rows)), sink, row_group_size=3)
    return sink.getvalue()


def bgzip(data: bytes) -> bytes:
    """Return many members of gzip, the last of them empty."""
    pieces = [data[at : at + 50] for at in range(0, len(data), 50)]
    return b"".join(gzip.compress(piece) for piece in [*pieces, b""])


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bgzip": bgzip,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
    "pzstd": pzstd,
}


RECORDS = [
    Record(id="a", sample="m1", copies=3),
    Record("TGCGCCAGCAGTGATTTTGAGACCCAGTACTTC", "TRBV13-1", "", "TRBJ2-5*01", 12, "b", "m1"),
    Record("TGTGCNAGCTGG", "TRBV1*01,TRBV2*01", "TRBD2*01", "TRBJ2-7", 2**62, "c", "m2"),
]
HEADER = "sequence_id\tv_call\tj_call\tjunction\tduplicate_count\tlocus\tproductive\n"
GOOD = "x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t2\tTRB\tT\n"


def written(folder: Path, data: str | bytes, name: str = "m.txt") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def rows_in(path: Path, **options: Any) -> list[dict[str, Any]]:
    """All rows of a file; the batches must be of the schema."""
    batches = list(open_repertoire(path, **{"locus": "TRB"} | options))
    assert all(batch.schema == ROWS for batch in batches)
    for batch in batches:
        batch.validate(full=True)
    rows: list[dict[str, Any]] = pa.Table.from_batches(batches, ROWS).to_pylist()
    return rows


def expected(record: Record, line: int, writer: str) -> dict[str, Any]:
    without_id = writer in WITHOUT_ID
    without_sample = writer in WITHOUT_SAMPLE
    return {
        "line": line,
        "id": "" if without_id else record.id,
        "sample": "m" if without_sample else record.sample or "m",
        "cdr3": record.junction[3:-3],
        "v_call": record.v,
        "d_call": "" if writer.startswith("rtcr") else record.d,  # its tables have none
        "j_call": record.j,
        "copies": 1 if writer == "imgt" else record.copies,  # its tables have none
        "reason": "",
    }


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in expected(RECORDS[0], 1, "")}
