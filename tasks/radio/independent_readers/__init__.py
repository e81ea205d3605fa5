"""Independent readers of visibilities by the libraries of radio astronomy, in their plain calls."""
