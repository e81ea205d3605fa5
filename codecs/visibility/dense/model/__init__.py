"""Model of `dense` values: parts, sizes, grid, predictions, symbols, and the payload's head."""
