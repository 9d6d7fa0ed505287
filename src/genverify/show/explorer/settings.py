"""Settings of the explorer."""

from pydantic import Field

from genverify.core.closed import Section


class Explorer(Section):
    variant: str
    phrases: str | None
    places: str
    show_households: bool
    certificates: bool
    likely: int = Field(ge=0)
    blocks_per_piece: int = Field(ge=1)
