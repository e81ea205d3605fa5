"""How libraries are called: with a lock of casacore, and pyuvdata without words or Internet."""
