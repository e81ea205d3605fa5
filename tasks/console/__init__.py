"""What commands are made of: options they share, and what they print."""
