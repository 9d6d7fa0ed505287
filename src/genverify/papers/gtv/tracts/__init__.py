"""Whole tracts: tables of blocks and of the tract in one attack on persons, beside each of them alone."""
