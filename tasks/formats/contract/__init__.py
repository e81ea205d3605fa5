"""Contract of formats: opening, losses, independent readers."""
