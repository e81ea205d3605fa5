"""Values of `dense`: their parts, sizes, grid, predictions, symbols, and the head that says so."""
