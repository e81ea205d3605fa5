"""Settings of external libraries: a lock for casacore, and pyuvdata without warnings or network."""
