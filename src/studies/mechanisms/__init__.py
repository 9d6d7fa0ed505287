"""Randomized response, the matrix mechanism, utility."""
