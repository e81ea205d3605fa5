"""Edit distance of pairs, by bit vectors: many at once, and long ones in a band."""
