"""Counts that cannot exist (footnote 9)."""
