"""Damaged input of every codec and format of the tables; see `__main__.py`."""
