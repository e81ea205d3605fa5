"""Nucleotypes of a table of `share`: their owners, path counts and covariates."""
