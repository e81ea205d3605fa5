"""Dense mode: bases in less than two bits each, by models that learn while they code."""
