"""The header of a stream, and what is checked by it before a block is decoded."""
