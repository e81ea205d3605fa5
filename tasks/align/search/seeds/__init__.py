"""Where queries and genome share k-mers: minimizers, their index, anchors, chains of them."""
