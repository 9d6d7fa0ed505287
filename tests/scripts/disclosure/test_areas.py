"""The scripts of the study of rounded areas on a made-up country: from files to a page that names no area."""

from pathlib import Path

import pandas as pd

from genverify.checker.certificate import read_proofs
from script_jobs import job, script
from studies.disclosure.settings import AreaSettings

TABLES = "title: made up\nsource: synthetic\nbase: 3\nsums: {t: {total: [a, b]}}\n"
SMALL = (
    "area,variable,group,count\ns1,t,a,0\ns1,t,b,3\ns1,t,total,3\n"
    + "s2,t,a,3\ns2,t,b,\ns2,t,total,6\ns3,t,a,0\ns3,t,b,0\ns3,t,total,9\n"
)
LARGER = "area,variable,group,count\nl1,t,a,3\nl1,t,b,6\nl1,t,total,9\nl2,t,a,3\nl2,t,b,0\nl2,t,total,3\n"
INSIDE = "sa1,sa2\ns1,l1\ns2,l1\ns3,l2\n"


def test_from_files_to_a_page(tmp_path: Path) -> None:
    for name, text in (("tables.yaml", TABLES), ("small.csv", SMALL), ("larger.csv", LARGER), ("areas.csv", INSIDE)):
        (tmp_path / name).write_text(text)
    counts = {"counts": tmp_path / "small.csv", "larger": tmp_path / "larger.csv", "tables": tmp_path / "tables.yaml"}
    how = AreaSettings(tables="", counts=None, larger=None, areas=None, area="sa1", inside="sa2", batches=2, seconds=20.0)
    ranges = []
    for batch in ("000", "001"):
        made = {"ranges": tmp_path / f"{batch}.parquet", "proofs": tmp_path / f"{batch}.jsonl.gz"}
        script("bound_areas")(job({**counts, "areas": tmp_path / "areas.csv"}, made, {"batch": batch}, nz=how))
        ranges.append(made["ranges"])
        assert all(proof["statements"] is not None for proof in read_proofs(made["proofs"]))
    script("weigh_areas")(job(counts, {"chances": tmp_path / "chances.csv"}))
    made = {"table": tmp_path / "table.csv", "readable": tmp_path / "table.md"}
    script("write_rounded_areas")(job({**counts, "ranges": ranges, "chances": tmp_path / "chances.csv"}, made))
    table = pd.read_csv(made["table"])
    small = table[(table["level"] == "small") & (table["table"] == "all tables")].iloc[0]
    assert (small["counts"], small["suppressed"], small["contradict_in_area"]) == (5, 1, 3)  # s3 holds at most 4 people
    assert not {"s1", "s2", "s3", "l1", "l2"} & set(made["readable"].read_text().split())
