"""The command `ablation`: a variant or a design, checked and written into config/ablations.yaml, and what it would run."""

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
from genverify.run.layout import ABLATIONS, TABLES

ABOUT = "# Variants and designs that `genverify ablation` added; it writes this whole file.\n"


def add(options: argparse.Namespace) -> int:
    check_name(options.name)
    parent, nothing = ["sample", "designs"] if options.design else ["variants"], dict[str, Any]()
    entry = nested([*parent, options.name], reduce(merge, map(_given, options.changes), nothing))
    whole = read_shipped(Path())
    if options.name in reduce(getitem, parent, whole):
        raise ConfigError(f"{'.'.join(parent)} has a {options.name!r} already: take another name, or edit what is there")
    check_study(parse_config(merge(whole, entry)))
    text = merge(read_yaml(ABLATIONS) if ABLATIONS.exists() else nothing, entry)
    ABLATIONS.write_text(ABOUT + yaml.safe_dump(text, default_flow_style=None, width=120, sort_keys=False))
    target = TABLES / (f"table5_{options.name}.csv" if options.design else f"compare/paper/{options.name}.csv")
    print(f"{ABLATIONS}: {'.'.join(parent)}.{options.name}\nrun it: snakemake {target}", flush=True)
    plan = ["plan", "--cores", "1", "--quiet", "all", "--config", f"target={target}"]
    return subprocess.run([sys.executable, "-m", "snakemake", *plan]).returncode


def _given(word: str) -> dict[str, Any]:
    key, is_given, text = word.partition("=")
    if not is_given:
        raise ConfigError(f"{word!r} is not a change: write key=value, for instance release.round=5")
    return nested(key.split("."), yaml.safe_load(text))


def nested(path: Sequence[str], value: Any) -> dict[str, Any]:
    return {path[0]: nested(path[1:], value) if path[1:] else value}
