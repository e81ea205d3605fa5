"""What is compiled of an index: its bits and lines, walks over its rows, patterns."""
