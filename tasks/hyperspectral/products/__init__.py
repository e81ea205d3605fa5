"""Products of imaging spectrometers: wavelengths and locations become coordinates of cubes."""
