"""Settings of the counts that cannot exist (footnote 9)."""

from pydantic import Field

from genverify.core.closed import Count, Section


class Excluded(Section):
    """Numbers of columns of an assignment, assignments of each per block, and batches of blocks that are gone through."""

    columns: list[Count] = Field(min_length=1)
    assignments: Count
    batches: Count
