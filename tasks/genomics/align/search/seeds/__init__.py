"""Shared k-mers of queries and genome: minimizers, their index, anchors and chains."""
