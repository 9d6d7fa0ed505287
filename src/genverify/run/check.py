"""Checks of a whole study before its first job."""

from genverify.run.registry import registered
from genverify.run.settings import Config
from genverify.run.studies import Studies


def can_be_made(config: Config, result: str) -> bool:
    """Whether the settings allow a figure or table."""
    return all(possible(config, result) for possible in registered("possible"))


def check_study(config: Config) -> None:
    """Everything that the settings name exists: universes, and the tables and groups of every variant."""
    studies = Studies()
    for check in registered("files_check"):
        check(config, studies)
