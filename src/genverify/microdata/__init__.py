"""Private data: only sampling, tabulation, baselines and evaluation may look in."""
