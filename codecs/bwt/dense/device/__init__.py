"""GPU coder of effort dense."""
