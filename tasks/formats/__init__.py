"""Kinds of files and stores that jobs read and write."""
