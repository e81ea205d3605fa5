"""Independent readers by the library of each field, with which `verify` compares stores."""
