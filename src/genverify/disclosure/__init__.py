"""Audit of any release: from one file that describes it to claims, ranges, proofs and a report."""
