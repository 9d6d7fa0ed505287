"""Bounds of cells from conditional tables."""
