"""Sets of read files that belong together: pairs, singles next to them, index reads, lanes."""
