"""What `genverify explain` does with results about whole tracts."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path


def extend(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], Iterator[str] | None]:
    """Add `--tracts`; the lines of the answer where it is given."""
    parser.add_argument("--tracts", type=Path, help="results about whole tracts, e.g. results/tracts/synthetic_persons/bins")
    return _explain


def _explain(options: argparse.Namespace) -> Iterator[str] | None:
    if not options.tracts:
        return None
    from genverify.papers.gtv.tracts.explain import explain_in_tract

    return explain_in_tract(options.tracts, options.block, options.claim)
