"""Block-adaptive entropy coder, and the coding order of its samples."""
