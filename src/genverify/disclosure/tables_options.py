"""The options of `disclose` for printed tables."""

import argparse
from pathlib import Path
from typing import Any

DIALECTS = ("plain", "sdctable", "sbs", "argus")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of printed tables."""
    own = parser.add_argument_group(
        "printed tables (.xlsx, .csv, .px, JSON-stat, SDMX-CSV, .rds, tau-Argus, acro, or a folder)"
    )
    pair: Any = {"action": "append", "default": [], "metavar": "A=B"}
    own.add_argument("--mark", **pair, help="what a mark means, e.g. '*=suppressed', '*=1-4', '-=0', 'blank=suppressed'")
    rules = "exact, round=5, random=3, random-nonzero=3, midpoint=6, key=2, suppress=5"
    own.add_argument("--rule", action="append", default=[], metavar="RULE", help=f"how numbers were treated: {rules}")
    own.add_argument("--total", **pair, help="the label that is the total of a column, e.g. 'sex=Both sexes'")
    several: Any = {"action": "append", "default": [], "metavar": "LABEL"}
    own.add_argument("--no-total", **several, help="a label that is no total although its name may say so")
    own.add_argument("--label", **several, help="a label or a header that looks like a symbol for a count, e.g. '<1'")
    own.add_argument("--decimal", choices=(".", ","), help="the decimal sign, where the numbers do not tell it")
    own.add_argument("--same-people", action="store_true", help="tables of several periods count the same people")
    own.add_argument("--hierarchy", **pair, help="a .hrc file for a column, e.g. 'industry=nace.hrc'")
    own.add_argument("--inside", **pair, help="a table counts some of the people of another: SMALL=LARGE")
    own.add_argument(
        "--fact", action="append", default=[], metavar="TEXT", help="a fact beside the counts, e.g. 'sex=f >= 3'"
    )
    own.add_argument("--contributions", type=Path, metavar="FILE",
                     help="CSV with labels, contributor and value of every contribution, for magnitude tables")  # fmt: skip
    own.add_argument("--sensitive", action="append", default=[], metavar="RULE",
                     help="a rule for contributions: dominance=2,80 or p=10 or contributors=3")  # fmt: skip
    own.add_argument("--fail-on", metavar="WHAT", help="exit with 1 for: exact, range<3, singled-out")
    own.add_argument("--allow-partial", action="store_true",
                     help="with --fail-on: what was left out of the reading is no reason to fail")  # fmt: skip
    own.add_argument("--json", action="store_true", help="print the answer as JSON, and nothing else")
    own.add_argument("--dialect", choices=DIALECTS, default="plain", help="status codes in cells.csv (%(default)s)")
    own.add_argument(
        "--write", type=Path, metavar="FILE", help="save what was understood as a release file, to be corrected"
    )
    own.add_argument("--seconds", type=float, default=120.0, help="limit of the search for ranges (%(default)s)")
    own.add_argument(
        "--search-seconds", type=float, default=60.0, help="limit of the search for cells to withhold (%(default)s)"
    )
    own.add_argument("--check", action="store_true", help="only check again the proofs in the folder of results (--out)")
