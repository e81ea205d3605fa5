"""Sample-adaptive entropy coder: encoders and decoders for BSQ and BI order."""
