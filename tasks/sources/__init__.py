"""What jobs read: one file per source format, behind the protocol of base.py."""
