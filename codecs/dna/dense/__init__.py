"""Dense mode: less than two bits per base, by adaptive models."""
