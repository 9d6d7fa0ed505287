"""Exact bounds of cell counts from tables of conditional frequencies (Wright and Smucker), and from marginal tables."""
