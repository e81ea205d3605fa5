"""From chains to alignments: extension, bands, and paths as runs of operations."""
