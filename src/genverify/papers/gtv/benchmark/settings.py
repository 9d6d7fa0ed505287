"""Settings of the benchmarks of the attack: see config/benchmark.yaml."""

from pydantic import Field

from genverify.core.closed import Section


class IngestBenchmark(Section):
    rows: int = Field(ge=1)


class SpeedBenchmark(Section):
    blocks: int = Field(ge=1)
    claims: int = Field(ge=1)
    datasets: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)


class BlocksBenchmark(Section):
    per_class: int = Field(ge=1)
    inhabited: int = Field(ge=1)
    before: str | None


class Blocks(Section):
    households: int = Field(ge=1)
    blocks: int = Field(ge=1)


class SameBenchmark(Section):
    study: bool
    cases: list[Blocks] = Field(min_length=1)


class ScalingBenchmark(Section):
    households: list[int] = Field(min_length=1)
    repeats: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)
    memory_mb: int = Field(ge=256)
