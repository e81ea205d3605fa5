"""What `gangsaw bench` measures."""
