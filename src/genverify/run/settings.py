"""The settings of a study: a closed model of config.yaml, put together from the models of the rooms."""

from typing import Any

from pydantic import Field

from genverify.attack.settings import Generate, Verify
from genverify.core.closed import Name, Section
from genverify.core.settings import ReleaseSettings
from genverify.disclosure.areas.spec import AreaSettings
from genverify.disclosure.settings import DisclosureBenchmark
from genverify.microdata.settings import Microdata
from genverify.papers.cellbounds.settings import Cellbounds, CellboundsBenchmark, MarginalsBenchmark
from genverify.papers.gtv.benchmark.settings import (
    BlocksBenchmark,
    IngestBenchmark,
    SameBenchmark,
    ScalingBenchmark,
    SpeedBenchmark,
)
from genverify.papers.gtv.excluded.settings import Excluded
from genverify.papers.gtv.generators.settings import Generators
from genverify.papers.gtv.probability.settings import CountingBenchmark, EstimateBenchmark, Probability
from genverify.papers.gtv.protected.settings import Protected
from genverify.papers.gtv.settings import Persons, Sample
from genverify.papers.gtv.tracts.settings import Tracts
from genverify.papers.gtv.zeros.settings import Zeros
from genverify.papers.housing.settings import Housing, HousingBenchmark
from genverify.papers.mechanisms.settings import Privacy
from genverify.papers.raprank.settings import RapBenchmark, RapRank
from genverify.show.explorer.settings import Explorer
from genverify.solve.settings import ProgramSettings


class Benchmark(Section):
    ingest: IngestBenchmark
    speed: SpeedBenchmark
    scaling: ScalingBenchmark
    blocks: BlocksBenchmark
    same: SameBenchmark
    counting: CountingBenchmark
    estimate: EstimateBenchmark
    rap: RapBenchmark
    cellbounds: CellboundsBenchmark
    marginals: MarginalsBenchmark
    audits: DisclosureBenchmark
    housing: HousingBenchmark


class Config(Section):
    seed: int = Field(ge=0, lt=2**64)
    microdata: Microdata
    sample: Sample
    release: ReleaseSettings
    program: ProgramSettings
    generate: Generate
    verify: Verify
    persons: Persons
    raprank: RapRank
    cellbounds: Cellbounds
    housing: Housing
    privacy: Privacy
    protected: Protected
    zeros: Zeros
    generators: Generators
    excluded: Excluded
    nz: AreaSettings
    probability: Probability
    tracts: Tracts
    explorer: Explorer
    benchmark: Benchmark
    releases: dict[Name, str]
    variants: dict[Name, dict[str, Any] | None] = Field(min_length=1)


class Variant(Section):
    """The sections that a variant can change, after its overrides."""

    release: ReleaseSettings
    program: ProgramSettings
    generate: Generate
    verify: Verify
