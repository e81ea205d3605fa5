"""Entropy coding: rANS, frequency tables, bit fields and gamma codes."""
