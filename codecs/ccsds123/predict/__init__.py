"""Prediction: the plan of a block, and mapped residuals from samples, all of which are known."""
