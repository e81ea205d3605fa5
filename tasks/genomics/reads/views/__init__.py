"""Views of a store of reads: access by number in Python, a report, and a figure."""
