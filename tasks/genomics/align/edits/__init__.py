"""Edit distance of pairs by bit vectors: many short pairs at once, long pairs in a band."""
