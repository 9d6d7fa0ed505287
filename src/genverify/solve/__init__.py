"""From a release to its program, bounds, datasets and counts, with the solvers."""
