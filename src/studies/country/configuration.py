"""What the settings say of the country, its blocks and persons, checked before the first job."""

from collections.abc import Iterator
from pathlib import Path

from genverify.model.errors import ConfigError, DataError, GenverifyError
from genverify.run.config import Config, Studies, section, variant_settings
from studies.country.settings import Microdata, Persons, Sample


def names(config: Config) -> Iterator[str]:
    """The designs of the sample."""
    sample = section(config, Sample)
    yield from (*sample.designs, *sample.all_blocks)


def check_settings(config: Config) -> None:
    """At least one design, and no name for two; a file where the source is one."""
    sample, microdata = section(config, Sample), section(config, Microdata)
    if not [one for one in (*sample.designs.values(), *sample.all_blocks.values()) if one is not None]:
        raise ConfigError("config.yaml: sample.designs and sample.all_blocks hold no design: name at least one")
    twice = sorted(sample.designs.keys() & sample.all_blocks.keys())
    if twice:
        raise ConfigError(f"config.yaml: sample.designs and sample.all_blocks both hold {twice[0]!r}: give one another name")
    if microdata.source == "ppmf" and not microdata.ppmf.units:
        raise ConfigError("config.yaml: microdata.source is ppmf, so microdata.ppmf.units must give the path of the file")
    if microdata.source == "ppmf" and microdata.protection:
        raise ConfigError("config.yaml: microdata.protection is for the built-in country; set it to null with source ppmf")


def check_files(config: Config, studies: Studies) -> None:
    """The universe, the tables of persons, and the tables and groups of every variant exist."""
    domain = Path(section(config, Microdata).domain)
    try:
        studies.domain(domain).universe(section(config, Sample).universe)
    except GenverifyError as error:
        raise ConfigError(f"config.yaml: sample.universe: {error}") from None
    _check_designs(section(config, Microdata), section(config, Sample), config.seed)
    _check_persons(section(config, Persons), studies)
    for name in config.variants:
        settings = variant_settings(config, name)
        try:
            columns = len(studies.read(domain, settings.release).domain.names)
        except GenverifyError as error:
            raise ConfigError(f"config.yaml: variants.{name}: {error}") from None
        if settings.verify.min_k > columns:
            wanted = f"verify.min_k is {settings.verify.min_k}, of {columns} columns"
            raise ConfigError(f"config.yaml: variants.{name}: {wanted}")


def _check_designs(microdata: Microdata, sample: Sample, seed: int) -> None:
    """Every design of a given size or states can be drawn of the built-in country; other microdata are known later."""
    # medians are left to their job: a country too small for them serves other studies
    if microdata.source != "synthetic" or microdata.protection or sample.universe != "occupied":
        return
    given = {name: one for name, one in sample.designs.items() if one and (isinstance(one.size, int) or one.states != "all")}
    if given:
        # Snakemake reads this module at its start, and most studies have medians only
        from studies.country.places import sizes_of_blocks
        from studies.country.sample import sample_blocks

        sample_blocks(sizes_of_blocks(microdata.synthetic), given, seed)


def _check_persons(persons: Persons, studies: Studies) -> None:
    if persons.release.round or persons.release.suppress:
        raise ConfigError("config.yaml: persons.release: counts of persons are neither rounded nor suppressed; leave it out")
    for part, tables in (("release.tables", persons.release.tables), ("tract_tables", persons.tract_tables)):
        try:
            studies.read(Path(persons.domain), persons.release.but(tables=tables))
        except GenverifyError as error:
            raise ConfigError(f"config.yaml: persons.{part}: {error}") from None


def refuse_private(config: Config) -> None:
    """What is made of a file of the user is not for others to see."""
    source = section(config, Microdata).source
    if source != "synthetic":
        raise DataError(f"microdata.source is {source}: a reference set is made from synthetic data only")
