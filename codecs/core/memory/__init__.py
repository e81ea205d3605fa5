"""Memory of the host that is aligned and used again, and the threads that share it."""
