"""What would cost a test more than what it tests: programs compiled for speed, and fonts with tables that no page needs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fontTools import subset

PLAIN = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
WHOLE = [*subset.Options().drop_tables]  # what a figure drops of its fonts, as studies draw it
LAYOUT = ["GSUB", "GPOS", "GDEF"]  # ligatures and kerning: matplotlib sets its letters itself


def compile_plainly() -> None:
    """
    JAX programs of tests run for milliseconds; optimised, they would take seconds to compile. `XLA_FLAGS= make test` runs
    them as a study does. XLA reads its flags once, so that this must come before its first program.
    """
    os.environ.setdefault("XLA_FLAGS", PLAIN)


@contextmanager
def letters_only() -> Iterator[None]:
    """A PDF embeds of its fonts the letters only: to cut their layout tables down takes longer than to draw the figure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subset.Options, "_drop_tables_default", [*WHOLE, *LAYOUT])
        yield
