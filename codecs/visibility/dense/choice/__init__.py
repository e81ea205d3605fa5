"""What the encoder of `dense` chooses for a block, from samples of its words."""
