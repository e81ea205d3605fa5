"""An index of one text: made of it, packed into bytes, opened from bytes that are not trusted."""
