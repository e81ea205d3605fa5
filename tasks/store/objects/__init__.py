"""Files and objects of a store, local and remote."""
