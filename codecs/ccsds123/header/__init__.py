"""Header of a stream, and the checks that it allows before a block is decoded."""
