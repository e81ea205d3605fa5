"""A codec of arrays of any dtype and rank: equal bytes that follow each other are counted."""
