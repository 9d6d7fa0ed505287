"""R data frames (.rds, .rda, .RData): tidy, or printed as a table."""

from pathlib import Path

from genverify.core.errors import DataError
from genverify.core.extras import needed
from genverify.disclosure.readers.frame import frame_tables
from genverify.disclosure.readers.model import PrintedTable, Told


def read_rdata(path: Path, told: Told) -> list[PrintedTable]:
    """Every data frame of an R file."""
    pyreadr = needed("pyreadr", f"{path}: R data", "or save it as CSV")
    told.limits.check(path, 0, path.stat().st_size)
    try:
        frames = pyreadr.read_r(str(path))
    except Exception as error:
        raise DataError(f"{path}: cannot be read as R data ({error}); save a data.frame with saveRDS") from None
    if not frames:
        raise DataError(f"{path}: holds no data frame; as.data.frame(table) makes one of a table")
    return [
        table
        for name, frame in frames.items()
        for table in frame_tables(frame, str(name or path.stem), str(path), "an R data frame", told)
    ]
