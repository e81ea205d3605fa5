"""A second codec: blocks as they are, one lane per row. It shows that core knows no codec."""
