"""Settings that the studies of generate-then-verify share. Each has its own beside it."""

from pydantic import Field

from genverify.core.closed import Section


class ChosenBlocks(Section):
    design: str
    number: int = Field(ge=1)
