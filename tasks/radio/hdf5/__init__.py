"""Visibilities in HDF5 by h5py: columns and templates of uvh5, KAT-7 and MeerKAT files."""
