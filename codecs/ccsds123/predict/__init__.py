"""Prediction: the plan of a block, and the encoder's mapped residuals of samples."""
