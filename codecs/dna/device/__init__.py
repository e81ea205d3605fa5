"""GPU encoder and decoder of blocks, on the host side."""
