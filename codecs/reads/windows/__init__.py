"""Windows of blocks on a GPU, one thread each: shared code of the kinds of text."""
