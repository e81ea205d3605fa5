"""Entry points, parameters, options and selection of codecs."""
