"""State of a store: journal, manifest, lease and history."""
