"""The households of other blocks: counted by area as tables of weights for the priors, and state by state."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from genverify.core.domain import Domain, DomainFile
from genverify.microdata.store import GEOGRAPHY, read_microdata
from genverify.papers.gtv.probability.priors import NATION, STATE, TIMES, TRACT


@dataclass(frozen=True)
class Outside:
    """
    The households outside the sampled blocks, read state by state. The sampled blocks themselves are left out: neither a
    prior nor its smoothing may know what is to be found out.
    """

    microdata: Path
    file: DomainFile
    universe: str
    published: Domain
    sampled: Collection[str]

    def states(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Every state with its households: block, and a code per published column."""
        left_out = list(self.sampled)
        for state in sorted(path.stem for path in self.microdata.glob("*.parquet")):
            records = read_microdata(self.microdata, ["block", *self.file.domain.names], states=[state]).to_pandas()
            kept = self.file.universe(self.universe).keeps.matches(dict(records.items()))
            kept &= ~records["block"].isin(left_out).to_numpy()
            for column in self.published.columns:
                kept &= records[column.name].isin(column.codes).to_numpy()
            yield state, records.loc[kept, ["block", *self.published.names]]

    def count_areas(self) -> pd.DataFrame:
        """How often each record occurs in the nation, in every state and in the tracts of the sampled blocks."""
        tracts = {block[: GEOGRAPHY[TRACT]] for block in self.sampled}
        parts = [part for state, records in self.states() for part in self._of_state(state, records, tracts)]
        counted = pd.concat(parts, ignore_index=True)
        return counted.groupby(["level", "area", *self.published.names], sort=True)[TIMES].sum().reset_index()

    def _of_state(self, state: str, records: pd.DataFrame, tracts: set[str]) -> Iterator[pd.DataFrame]:
        names = list(self.published.names)
        whole = records.groupby(names, observed=True).size().rename(TIMES).reset_index()
        yield whole.assign(area="", level=NATION)
        yield whole.assign(area=state, level=STATE)
        area = records["block"].str.slice(0, GEOGRAPHY[TRACT])
        local = records[area.isin(tracts)].assign(area=area)
        yield local.groupby(["area", *names], observed=True).size().rename(TIMES).reset_index().assign(level=TRACT)
