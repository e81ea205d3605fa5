"""The sample-adaptive entropy coder, in both orders and both directions."""
