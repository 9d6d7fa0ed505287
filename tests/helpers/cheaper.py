"""What would cost a test more than what it tests: programs compiled for speed, and fonts with tables that no page needs."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fontTools import subset

PLAIN = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
LAYOUT = ["GSUB", "GPOS", "GDEF"]  # ligatures and kerning: matplotlib sets its letters itself


def compile_plainly() -> None:
    """
    JAX programs of tests run for milliseconds; optimised, they would take seconds to compile. `XLA_FLAGS= make test` runs
    them as a study does. XLA reads its flags once, so that this must come before its first program.
    """
    os.environ.setdefault("XLA_FLAGS", PLAIN)


def collect_rarely() -> None:
    """Every collection of garbage walks the modules of all tests, and JAX is told of it: it takes a tenth of the time."""
    gc.set_threshold(50_000, 20, 20)


@contextmanager
def letters_only() -> Iterator[None]:
    """A PDF embeds of its fonts the letters only: to cut their layout tables down takes longer than to draw the figure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subset.Options, "_drop_tables_default", [*subset.Options().drop_tables, *LAYOUT])
        yield
