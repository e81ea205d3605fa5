"""References and reads that a seed makes: the truth about them is known."""
