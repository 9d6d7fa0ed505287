"""The study over several generators of the synthetic country: how far its numbers depend on who lives beside whom."""
