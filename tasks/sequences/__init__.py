"""What domains of sequences share: text that may be compressed, letters, words of two bits."""
