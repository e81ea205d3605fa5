"""What lanes are, and where the words of each lie."""
