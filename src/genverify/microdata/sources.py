"""The two sources of microdata behind one interface: a label and a stream of tables."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from genverify.core.domain import DomainFile
from genverify.core.seeds import derive_seed
from genverify.microdata.ppmf import read_ppmf
from genverify.microdata.settings import Microdata
from genverify.microdata.synthetic import read_country, synthesize

SYNTHETIC = "synthetic microdata"


def open_source(
    settings: Microdata, seed: int, domain_file: DomainFile, rejected: Counter[str]
) -> tuple[str, Iterator[pa.Table]]:
    """What the data are called on every figure and table, and the records (block and columns) as a stream of tables."""
    if settings.source == "ppmf":
        path = Path(str(settings.ppmf.units))
        return f"PPMF file {path.name}", read_ppmf(path, domain_file.domain, rejected)
    country = read_country(Path(settings.synthetic.country))
    return SYNTHETIC, synthesize(settings.synthetic, derive_seed(seed, "microdata"), domain_file, country)
