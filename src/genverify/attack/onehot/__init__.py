"""The paper's own program: the reference, slow and without proofs."""
