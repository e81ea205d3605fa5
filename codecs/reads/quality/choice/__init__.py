"""Choice of the tree of contexts by an encoder of qualities."""
