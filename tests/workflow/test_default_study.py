"""The default study, all its blocks: every proof is accepted, and every verified claim is true of the private block."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from genverify.attack.generate import generate_block
from genverify.attack.verify import Verdict, verify_block
from genverify.checker.record_proofs import check_block
from genverify.model.claims import ANY
from genverify.model.domain import read_domain
from genverify.model.release import Release, make_release, read_study
from genverify.model.tabulate import tabulate_counts
from genverify.run.config import parse_config, read_shipped
from genverify.solve.program_settings import ProgramSettings
from studies.country.sample import choose_blocks
from studies.country.sources import open_source
from studies.country.store import block_sizes, read_microdata, write_microdata

ROOT = Path(__file__).parents[2]
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text())
SETTINGS = ProgramSettings(**CONFIG["program"])
DATASETS = 5  # the verified claims do not depend on it


def attack(release: Release) -> tuple[str, Counter[str], list[tuple[tuple[int, ...], int]]]:
    """The verdicts of a block and its verified claims, proofs checked."""
    generated = generate_block(release, SETTINGS, DATASETS, 1)
    found = verify_block(release, generated.records, SETTINGS, CONFIG["verify"]["min_k"])
    assert check_block(release, found.certificate).claims == len(found.claims)
    verdicts = Counter(decision.verdict.value for decision in found.decisions)
    return release.block, verdicts, [(claim.codes, claim.m) for claim in found.claims]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Release], pd.DataFrame]:
    """The releases of all sampled blocks, and the private households behind them."""
    folder, study = tmp_path_factory.mktemp("microdata"), parse_config(read_shipped(ROOT))
    domain, release = ROOT / study.microdata.domain, study.release
    domain_file, country = read_domain(domain), str(ROOT / study.microdata.synthetic.country)
    microdata = study.microdata.but(synthetic=study.microdata.synthetic.but(country=country))
    _, tables = open_source(microdata, study.seed, domain_file, Counter())
    write_microdata(tables, folder, domain_file.domain)
    keeps = domain_file.universe(release.universe).keeps
    blocks = choose_blocks(block_sizes(folder, keeps), study.sample, study.seed)
    records: pa.Table = read_microdata(folder, blocks=set(blocks["block"]))
    schema = read_study(domain, release.but(tables_file=str(ROOT / release.tables_file)))
    names, sizes, counts = tabulate_counts(records, keeps, schema)
    releases = []
    for block, size, row in zip(names, sizes.tolist(), counts.tolist(), strict=True):
        known = {query.id: count for query, count in zip(schema.queries, row, strict=True)}
        releases.append(make_release(schema, block, {"N": size, **known}))
    frame = records.to_pandas()
    return releases, frame[keeps.matches(dict(frame.items()))]


def test_every_verified_claim_of_the_study_is_true(study: tuple[list[Release], pd.DataFrame]) -> None:
    releases, private = study
    names = list(releases[0].schema.domain.names)
    households = {str(block): rows[names].to_numpy() for block, rows in private.groupby("block")}
    assert len(releases) >= 450
    verdicts: Counter[str] = Counter()
    for block, found, claims in map(attack, releases):
        verdicts += found
        for codes, m in claims:
            wanted = np.array(codes)
            assert ((households[block] == wanted) | (wanted == ANY)).all(axis=1).sum() == m, (block, codes)
    assert verdicts[Verdict.VERIFIED.value] > 10_000
    assert verdicts[Verdict.UNDECIDED.value] == verdicts[Verdict.UNCERTIFIED.value] == 0
