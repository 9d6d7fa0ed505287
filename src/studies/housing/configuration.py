"""What the settings say of the housing study, checked before the first job."""

from genverify.model.errors import ConfigError
from genverify.run.config import Config, section
from studies.housing.settings import Housing


def check_settings(config: Config) -> None:
    """Two files of the user, or none."""
    housing = section(config, Housing)
    if bool(housing.picture) != bool(housing.sf1):
        raise ConfigError("config.yaml: housing.picture and housing.sf1 describe the same blocks: give both files, or none")
