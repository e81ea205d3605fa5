"""GeoTIFF images."""
