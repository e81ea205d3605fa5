"""Contract of inputs, and errors of the libraries that read them."""
