"""Ranges of cells that are tied by sums, with proofs."""
