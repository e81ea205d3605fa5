"""Visibilities in HDF5, uvh5 and that of KAT-7 and MeerKAT, by h5py: columns, the template."""
