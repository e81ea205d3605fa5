"""Windows of blocks on a GPU, a thread for each; what kinds of text share there."""
