"""Counting: how many datasets fit a program, how likely each is under a prior, and exact draws from them."""
