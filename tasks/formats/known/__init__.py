"""The formats that belong to no domain, one object per file."""
