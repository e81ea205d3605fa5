"""MeasurementSets by casacore: columns, files stored as bytes, and the template."""
