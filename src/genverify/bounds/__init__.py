"""Bounds of cells from conditional tables and from marginals."""
