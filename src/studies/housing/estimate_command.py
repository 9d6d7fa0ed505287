"""The command that estimates from surveys what the built-in country is made of."""

import argparse
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from genverify.model.domain import read_domain
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.tablefiles import Expected, open_csv
from studies.country.composition import SETTINGS, estimate_setting, read_blocks
from studies.country.people import possible_types, read_country
from studies.country.study import BLOCK_LAYOUTS, DATA, DOMAIN
from studies.country.surveyed import HOUSEHOLDS, TRIPLES, Spread, estimate, odds_table, read_survey
from studies.country.surveys import count_pums
from studies.housing.households import count_renters, estimate_conditionals, estimate_kinds

ABOUT = """
households: the odds of a log-linear model, as in data/synthetic/odds.csv. Give counts (csv: columns of codes, and
households), or PUMS files as the Census Bureau gives them: housing units (psam_hus*.csv) and their persons
(psam_pus*.csv). The shipped file was made of 1,639 households of the ACS 2011 (all columns) and 43,830 of the ACS 2016
(without age, race and origin of the householder), in this order.

children: sizes from 7 on and children by persons, as in data/housing/simulation.yaml. Give two csv files of counts: with
the columns persons, own_children, TP18, households; and with HHSIZE, HHT2, households.

neighbours: race and origin of neighbours, urban and rural, as in data/synthetic/neighbours.yaml. Give csv files of
block counts (Summary File 1, P15, or redistricting data, P3 and P4; data/census/block_layouts.yaml lists the columns).

bedrooms: bedrooms and children by kind of property, as in data/housing/simulation.yaml. Give a csv file of counts with the
columns TEN, persons, TP18, bedrooms, households; data/housing/bedrooms.csv is the shipped one, renters of the ACS 2016.
"""


def add_parser(commands: Any) -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = commands.add_parser("estimate", description=ABOUT, formatter_class=form)
    kinds = parser.add_subparsers(required=True, metavar="households|neighbours|children|bedrooms")
    households = kinds.add_parser("households", help="how the columns of a household go together (odds)")
    households.add_argument("--counts", type=Path, nargs="*", default=[], help="csv files of counts, one per survey")
    households.add_argument("--housing", type=Path, nargs="*", default=[], help="PUMS files of housing units")
    households.add_argument("--persons", type=Path, nargs="*", default=[], help="PUMS files of their persons")
    households.add_argument("--pairs", type=float, default=0.5, help="spread of the log odds of two columns (%(default)s)")
    households.add_argument("--triples", type=float, default=0.25, help="of three columns (%(default)s)")
    households.add_argument("--country", type=Path, default=DATA, help="national figures (%(default)s)")
    households.add_argument("--domain", type=Path, default=DOMAIN, help="columns and rules (%(default)s)")
    households.add_argument("--out", type=Path, default=Path("odds.csv"), help="the file to write (%(default)s)")
    households.set_defaults(run=estimate_households)
    neighbours = kinds.add_parser("neighbours", help="race and origin of the households of a block (printed as YAML)")
    neighbours.add_argument("blocks", type=Path, nargs="+", help="csv files of block counts")
    for name in SETTINGS:
        neighbours.add_argument(f"--{name}", nargs="+", required=True, metavar="COUNTY", help=f"{name} counties, 5 digits")
    neighbours.add_argument("--layouts", type=Path, default=BLOCK_LAYOUTS, help="columns (%(default)s)")
    neighbours.set_defaults(run=estimate_neighbours)
    children = kinds.add_parser("children", help="sizes from 7 on, and children by persons (printed as YAML)")
    children.add_argument("children", type=Path, help="counts by persons, own_children and TP18")
    children.add_argument("types", type=Path, help="counts by HHSIZE and HHT2")
    children.set_defaults(run=estimate_children)
    bedrooms = kinds.add_parser("bedrooms", help="bedrooms and children by kind of property (printed as YAML)")
    bedrooms.add_argument("counts", type=Path, help="counts by TEN, persons, TP18 and bedrooms")
    bedrooms.add_argument("--out", type=Path, help="write what was counted, as in data/housing/bedrooms.csv")
    bedrooms.set_defaults(run=estimate_bedrooms)


def estimate_households(options: argparse.Namespace) -> None:
    file, country = read_domain(options.domain), read_country(options.country)
    tables = {str(path): read_counts(path) for path in options.counts}
    if bool(options.housing) != bool(options.persons):
        raise DataError("--housing and --persons belong together: a household is recoded from its unit and its persons")
    if options.housing:
        tables["PUMS"] = count_pums(options.housing, options.persons)
    if not tables:
        raise DataError("give the households of at least one survey: --counts, or --housing and --persons (see --help)")
    surveys = [read_survey(table, name, file, country.targets) for name, table in tables.items()]
    for name, survey in zip(tables, surveys, strict=True):
        columns = ", ".join(survey.term.columns)
        print(f"{name}: {survey.households.sum():,} households over {columns}", file=sys.stderr)
    names = possible_types(file).records
    if not any(set(survey.term.columns) == set(names) for survey in surveys):
        raise DataError(f"no survey has all of {', '.join(names)}; without one, some odds would be guesses")
    print("estimating; this takes about a minute", file=sys.stderr)
    fitted = estimate(surveys, names, Spread(options.pairs, options.triples, TRIPLES))
    odds_table(fitted, surveys).to_csv(options.out, index=False)
    print(f"{options.out}: {sum(len(term.codes) for term in fitted.terms):,} odds", file=sys.stderr)


def estimate_neighbours(options: argparse.Namespace) -> None:
    read = [read_blocks(path, read_yaml(options.layouts)) for path in options.blocks]
    counts, shares = (pd.concat(parts).fillna(0) for parts in zip(*read, strict=True))
    found = {name: estimate_setting(counts, shares, getattr(options, name)) for name in SETTINGS}
    print(yaml.safe_dump(found, sort_keys=False, default_flow_style=None, width=150), end="")


def estimate_children(options: argparse.Namespace) -> None:
    found = estimate_conditionals(read_counts(options.children), read_counts(options.types))
    print(yaml.safe_dump(found, sort_keys=False, default_flow_style=None), end="")


def estimate_bedrooms(options: argparse.Namespace) -> None:
    """Print the kinds of property; write the counts behind them where a file is named."""
    survey = read_counts(options.counts)
    if options.out:
        count_renters(survey).to_csv(options.out, index=False)
    print(yaml.safe_dump(estimate_kinds(survey), sort_keys=False, default_flow_style=None), end="")


def read_counts(path: Path) -> pd.DataFrame:
    """Counts of households as a csv file of whole numbers."""
    table = open_csv(path, Expected("a CSV file of counts")).frame(texts=[])
    for name in table.columns:
        if not pd.api.types.is_integer_dtype(table[name]):
            raise DataError(f"{path}: column {name} holds more than whole numbers; give codes, and {HOUSEHOLDS}")
    return table
