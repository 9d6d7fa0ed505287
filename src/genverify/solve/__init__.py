"""The datasets that fit a release: types, classes, the program, bounds with proofs, solvers."""
