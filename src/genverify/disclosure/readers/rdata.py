"""R data frames (.rds, .rda, .RData): tidy, or printed as a table."""

from pathlib import Path

from genverify.core.errors import DataError
from genverify.core.extras import needed
from genverify.core.limits import FileLimits
from genverify.disclosure.readers.grid import Grid, tables_of
from genverify.disclosure.readers.model import PrintedTable
from genverify.disclosure.readers.tidy import is_tidy, tidy_tables


def read_rdata(path: Path, limits: FileLimits) -> list[PrintedTable]:
    """Every data frame of an R file."""
    pyreadr = needed("pyreadr", f"{path}: R data", "or save it as CSV")
    limits.check(path, 0, path.stat().st_size)
    try:
        frames = pyreadr.read_r(str(path))
    except Exception as error:
        raise DataError(f"{path}: cannot be read as R data ({error}); save a data.frame with saveRDS") from None
    if not frames:
        raise DataError(f"{path}: holds no data frame; as.data.frame(table) makes one of a table")
    found = []
    for name, frame in frames.items():
        texts = frame.astype(object).where(frame.notna(), "")
        grid: Grid = [
            [str(column) for column in frame.columns],
            *([_text(value) for value in row] for row in texts.to_numpy().tolist()),
        ]
        read = tidy_tables if is_tidy(grid) else tables_of
        found += read(grid, str(name or path.stem), str(path))
    return [table.noted("an R data frame") for table in found]


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
