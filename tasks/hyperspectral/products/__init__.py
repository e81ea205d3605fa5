"""Products of imaging spectrometers: wavelengths and places become coordinates of their cubes."""
