"""Proofs in the formats of other people's checkers: VIPR, OPB with a VeriPB proof, SMT-LIB, Coq. Imports core, checker."""
