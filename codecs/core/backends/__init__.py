"""Block coding: tables of a codec's encoders and decoders, and the code that all codecs share."""
