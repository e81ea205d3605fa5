"""What a store has of a data set: its variables, their names, kinds and attributes."""
