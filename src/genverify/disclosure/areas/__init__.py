"""Rounded counts of many areas: the exact range of every count that its table, its totals and its geography imply."""
