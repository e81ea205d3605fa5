"""Streams of unknown length, into arrays that grow."""
