"""Ranges of counts that are tied by sums, each end with a proof."""
