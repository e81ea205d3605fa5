"""Formats that belong to no scientific domain, one `Format` object per file or folder."""
