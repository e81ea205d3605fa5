"""What commands share: options and output."""
