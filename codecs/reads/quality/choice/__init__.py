"""How an encoder of qualities chooses its tree of contexts."""
