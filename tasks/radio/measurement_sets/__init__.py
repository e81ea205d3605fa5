"""MeasurementSets, by casacore: columns, files that are stored as they are, the template."""
