"""File name suffixes of sequences."""

from __future__ import annotations

FASTA_NAMES = (".fasta", ".fa", ".fna", ".fas", ".faa", ".ffn", ".frn", ".fsa", ".mfa")
FASTQ_NAMES = (".fastq", ".fq")
PACKED = (".gz", ".bgz", ".bz2", ".xz", ".zst")


def is_called(path: str, names: tuple[str, ...], ends: tuple[str, ...] = ("", *PACKED)) -> bool:
    """Return True if a path has one of these suffixes, with or without one of compression."""
    return path.lower().endswith(tuple(f"{name}{end}" for name in names for end in ends))
