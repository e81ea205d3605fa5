"""Slow plain Python versions, written from the specifications; they import nothing of Gangsaw."""
