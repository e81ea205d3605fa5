"""Fast effort: static tables of ranks and runs, lanes side by side."""
