"""Solvers behind one small interface. What they answer is recounted by their callers."""
