"""What is told and drawn of a store."""
