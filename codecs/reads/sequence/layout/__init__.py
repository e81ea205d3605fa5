"""Layout of a block: overlaps of its lines, and the consensus that they share."""
