"""The commands of imaging spectrometers; heavy imports happen inside them."""
