"""The command `ablation`: a variant or a design as a line of the configuration, checked, and what it would run."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import yaml

from genverify.model.errors import ConfigError
from genverify.model.files import read_yaml
from genverify.model.settings import merge
from genverify.run.config import check_name, check_study, parse_config, read_shipped
from genverify.run.layout import SETTINGS, TABLES

VARIANTS, DESIGNS = ("variants",), ("sample", "designs")
HELP = "write a variant or a design into the configuration; say what it would run, and how long"
EXAMPLES = """
genverify ablation no_h12 release.without='[H12*]'
genverify ablation few release.round=5 generate.datasets=20 verify.min_k=7
genverify ablation fifteens --design size=15 blocks_per_state=5 states='["13", "56"]'
"""


def add_parser(commands: Any) -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = commands.add_parser("ablation", help=HELP, description=EXAMPLES, formatter_class=form)
    parser.add_argument("name")
    parser.add_argument("changes", nargs="+", metavar="key=value", help="release.round=5; of a design, size=15")
    parser.add_argument("--design", action="store_true", help="a design of the sample (blocks of a size), not a variant")
    parser.set_defaults(run=_add)


def _add(options: argparse.Namespace) -> int:
    check_name(options.name)
    parent, nothing = DESIGNS if options.design else VARIANTS, dict[str, Any]()
    value = reduce(merge, map(_given, options.changes), nothing)
    entry, whole = nested([*parent, options.name], value), read_shipped(Path())
    if options.name in reduce(getitem, parent, whole):
        raise ConfigError(f"{'.'.join(parent)} has a {options.name!r} already: take another name, or edit {SETTINGS}")
    check_study(parse_config(merge(whole, entry)))
    line = f"{options.name}: {yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False).strip()}"
    text = _with_line(SETTINGS.read_text(), parent, line)
    if yaml.safe_load(text) != merge(read_yaml(SETTINGS), entry):
        raise ConfigError(f"{SETTINGS}: {'.'.join(parent)} is not written a line each; add this by hand: {line}")
    SETTINGS.write_text(text)
    print(f"{SETTINGS}, {'.'.join(parent)}: {line}")
    target = TABLES / (f"table5_{options.name}.csv" if options.design else f"compare/paper/{options.name}.csv")
    print(f"run it: snakemake {target}", flush=True)
    plan = ["plan", "--cores", "1", "--quiet", "all", "--config", f"target={target}"]
    return subprocess.run([sys.executable, "-m", "snakemake", *plan]).returncode


def _given(word: str) -> dict[str, Any]:
    key, is_given, text = word.partition("=")
    if not is_given:
        raise ConfigError(f"{word!r} is not a change: write key=value, for instance release.round=5")
    return nested(key.split("."), yaml.safe_load(text))


def nested(path: Sequence[str], value: Any) -> dict[str, Any]:
    return {path[0]: nested(path[1:], value) if path[1:] else value}


def _with_line(text: str, path: Sequence[str], line: str) -> str:
    """
    The text of a file of settings with one more line in a block of it; comments and order stay.

    >>> _with_line("a:\\n  b: 1  # one\\n\\n# more\\nc: 2\\n", ["a"], "d: 3")
    'a:\\n  b: 1  # one\\n  d: 3\\n\\n# more\\nc: 2\\n'
    """
    node, lines = yaml.compose(text), text.splitlines()
    for name in path:
        node = next(value for key, value in node.value if key.value == name)
    if not node.value:
        raise ConfigError(f"{'.'.join(path)} is empty: add the line by hand: {line}")
    indent = " " * node.value[0][0].start_mark.column
    while isinstance(node, yaml.MappingNode) and not node.flow_style:
        node = node.value[-1][1]
    after = node.end_mark.line + 1
    return "\n".join([*lines[:after], indent + line, *lines[after:]]) + "\n"
