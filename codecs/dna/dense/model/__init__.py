"""What a dense block learns, and predicts from it."""
