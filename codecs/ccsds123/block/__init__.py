"""The block-adaptive entropy coder, and the order of what it codes."""
