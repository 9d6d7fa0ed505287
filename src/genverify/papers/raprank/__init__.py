"""Experiments of RAP-RANK: areas, halves, what the attack sees of them, rankings, baselines and match curves."""
