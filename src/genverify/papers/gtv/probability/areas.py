"""The households of other blocks, counted: tables of weights for the priors of the study."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pandas as pd

from genverify.core.domain import Domain, DomainFile
from genverify.microdata.store import GEOGRAPHY, read_microdata
from genverify.papers.gtv.probability.priors import NATION, STATE, TIMES, TRACT


def count_areas(
    microdata: Path, file: DomainFile, universe: str, published: Domain, sampled: Collection[str]
) -> pd.DataFrame:
    """
    How often each record occurs in the nation, in every state and in the tracts of the sampled blocks. The sampled blocks
    themselves are left out: a prior must not know what is to be found out.
    """
    tracts = {block[: GEOGRAPHY[TRACT]] for block in sampled}
    states = sorted(path.stem for path in microdata.glob("*.parquet"))
    parts = [
        part for state in states for part in _of_state(microdata, file, universe, published, set(sampled), tracts, state)
    ]
    counted = pd.concat(parts, ignore_index=True)
    return counted.groupby(["level", "area", *published.names], sort=True)[TIMES].sum().reset_index()


def _of_state(
    microdata: Path, file: DomainFile, universe: str, published: Domain, sampled: set[str], tracts: set[str], state: str
) -> Iterator[pd.DataFrame]:
    names = list(published.names)
    records = read_microdata(microdata, ["block", *file.domain.names], states=[state]).to_pandas()
    kept = file.universe(universe).keeps.matches(dict(records.items())) & ~records["block"].isin(list(sampled)).to_numpy()
    for column in published.columns:
        kept &= records[column.name].isin(column.codes).to_numpy()
    records = records[kept]
    whole = records.groupby(names, observed=True).size().rename(TIMES).reset_index()
    yield whole.assign(area="", level=NATION)
    yield whole.assign(area=state, level=STATE)
    area = records["block"].str.slice(0, GEOGRAPHY[TRACT])
    local = records[area.isin(tracts)].assign(area=area)
    yield local.groupby(["area", *names], observed=True).size().rename(TIMES).reset_index().assign(level=TRACT)
