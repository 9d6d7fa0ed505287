"""Reading of the YAML files that describe domains, tables and countries."""

from pathlib import Path
from typing import Any

import yaml

from genverify.errors import DataError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping."""
    try:
        text = yaml.load(path.read_text(), Loader=LOADER)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path in config.yaml") from None
    except yaml.YAMLError as error:
        raise DataError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    if not isinstance(text, dict):
        raise DataError(f"{path}: holds no settings; a mapping is expected")
    return text
