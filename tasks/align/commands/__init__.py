"""Commands of alignment."""
