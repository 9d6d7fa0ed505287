"""Protections of private data before counts are published: swapping and discrete Gaussian noise, for every attack."""
