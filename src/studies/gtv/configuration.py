"""What the settings say of generate-then-verify and the studies around it, checked before the first job."""

from collections.abc import Iterator

from genverify.model.errors import ConfigError
from genverify.run.config import Config, section, settings_of
from studies.country.settings import Microdata, Sample
from studies.gtv.settings import Protected, Tracts, Zeros

NEEDED_DESIGN = {"fig2": "state_median", "table5": "country_median"}
EXAMPLES = ("fig1", "table1")
EXAMPLES_OF = "paper"


def can_be_made(config: Config, result: str) -> bool:
    """Whether the settings allow a figure or table: some show one design, examples in words synthetic data with proofs."""
    design = NEEDED_DESIGN.get(result)
    if design and section(config, Sample).designs.get(design) is None:
        return False
    proved = settings_of(config, "program", EXAMPLES_OF)["formulation"] == "compact"
    return result not in EXAMPLES or (section(config, Microdata).source == "synthetic" and proved)


def names(config: Config) -> Iterator[str]:
    """Protections, records and explanations of zeros, readings of tracts."""
    zeros, tracts = section(config, Zeros), section(config, Tracts)
    yield from (*section(config, Protected).protections, *zeros.records, *zeros.explanations)
    yield from (*tracts.persons.readings, *tracts.households.readings)


def check_settings(config: Config) -> None:
    """Intervals have a confidence, and microdata none."""
    for name, protection in section(config, Protected).protections.items():
        noise = protection.noise
        if noise and (noise.publish == "intervals") != (noise.confidence is not None):
            remedy = "give one, for instance 0.95" if noise.publish == "intervals" else "set it to null"
            raise ConfigError(
                f"config.yaml: protected.protections.{name}: noise.publish is {noise.publish} and noise.confidence "
                f"{noise.confidence}: {remedy}"
            )
