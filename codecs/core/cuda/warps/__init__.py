"""Headers: what the threads of a warp or of a thread block do together."""
