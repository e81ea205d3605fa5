"""Which stretches of lines overlap, and the consensus that they share."""
