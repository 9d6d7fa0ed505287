"""The toy study that tests of the scripts read."""

from pathlib import Path

import pytest

from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import ProgramSettings
from toy_study import make_toy


@pytest.fixture(scope="session")
def made(
    tmp_path_factory: pytest.TempPathFactory, toy: Path, toy_settings: ReleaseSettings, program_settings: ProgramSettings
) -> Path:
    return make_toy(tmp_path_factory.mktemp("toy"), toy, toy_settings, program_settings.model_dump())
