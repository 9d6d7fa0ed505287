"""The names of the front door, for type checkers."""

from genverify.checker.record_proofs import check_block

check = check_block
