"""Commands for imaging spectrometry; heavy imports happen inside them."""
