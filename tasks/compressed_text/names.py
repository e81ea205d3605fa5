"""File name suffixes of sequences."""

from __future__ import annotations

FASTA_NAMES = (".fasta", ".fa", ".fna", ".fas", ".faa", ".ffn", ".frn", ".fsa", ".mfa")
FASTQ_NAMES = (".fastq", ".fq")
PACKED = (".gz", ".bgz", ".bz2", ".xz", ".zst")


def is_called(path: str, names: tuple[str, ...], ends: tuple[str, ...] = ("", *PACKED)) -> bool:
    """Return True if a path ends in one of `names`, with or without a compression suffix."""
    return path.lower().endswith(tuple(f"{name}{end}" for name in names for end in ends))
