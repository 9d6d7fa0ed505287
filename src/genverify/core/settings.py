"""Settings of a release: what is published."""

from typing import Annotated, Literal

from pydantic import Field

from genverify.core.closed import Section


class ReleaseSettings(Section):
    tables_file: str
    universe: str
    tables: Literal["all"] | list[str]
    groups: dict[str, list[int] | None]
    structural_zeros: bool
    withhold: list[Annotated[int, Field(ge=0, le=1_000_000)]]
