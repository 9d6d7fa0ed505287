"""Libraries that only some formats need: a clear word where one is missing."""

from importlib import import_module
from pathlib import Path
from typing import Any

from genverify.core.errors import ConfigError


def needed(library: str, path: Path, what: str, extra: str) -> Any:
    """The library, or an error that says how to have it."""
    try:
        return import_module(library)
    except ImportError:
        raise ConfigError(
            f"{path}: to read {what}, install the library {library}: pip install 'genverify[{extra}]' (or save it as CSV)"
        ) from None
