"""The crate of a small chain: read back, the same bytes again, and nothing private in it."""

import json
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from chain import RULES
from crate import check_crate, write_crate
from genverify.model.errors import DataError
from genverify.run.provenance.records import find_records, walk, without_places

ABOUT = {"name": "toy", "description": "a toy", "license": "https://spdx.org/licenses/MIT", "licence_name": "MIT License",
         "workflow": "Snakefile", "settings": "config.yaml"}  # fmt: skip


def pack(path: Path) -> Path:
    chain = walk(["figures/fig3.pdf", "figures/ablation.pdf"], find_records())
    code = sorted({file for job in chain.jobs for file in job.code})
    texts = {"config.yaml": "units: /home/ada/units.csv\n"}
    write_crate(
        path, chain, ["Snakefile", "workflow/all.smk", "envs/requirements.lock", "data/raw.yaml", *code], texts, ABOUT
    )
    return path


def test_a_crate_is_read_back_and_tells_every_run(chain_study: Path, tmp_path: Path) -> None:
    found = check_crate(pack(tmp_path / "crate.zip"))
    assert found["CreateAction"] == 12 + 1  # every job, and the workflow itself
    assert found["ControlAction"] == 12
    assert found["HowToStep"] == 8
    with ZipFile(tmp_path / "crate.zip") as archive:
        graph = {entity["@id"]: entity for entity in json.loads(archive.read("ro-crate-metadata.json"))["@graph"]}
    profiles = {profile["@id"] for profile in graph["./"]["conformsTo"]}
    assert {f"https://w3id.org/ro/wfrun/{kind}/0.6" for kind in ("process", "workflow", "provenance")} <= profiles
    job = graph["#job/results/paper/claims/000.record"]
    assert job["instrument"] == {"@id": "scripts/verify.py"}
    assert job["description"] == "settings: verify: min_k=1"
    assert {"@id": "#results/paper/claims/000.parquet"} in job["result"]
    assert graph["#run"]["instrument"] == graph["./"]["mainEntity"] == {"@id": "Snakefile"}
    assert {one["@id"] for one in graph["Snakefile"]["step"]} == {
        f"#step/{name}" for name in RULES if not name.startswith("write_")
    }


def test_a_crate_holds_results_and_records_but_no_microdata_and_no_places(chain_study: Path, tmp_path: Path) -> None:
    with ZipFile(pack(tmp_path / "crate.zip")) as archive:
        names, text = set(archive.namelist()), b"".join(map(archive.read, archive.namelist())).decode()
    assert {"figures/fig3.pdf", "figures/fig3.png", "figures/fig3.record.json", "results/store.record.json"} <= names
    assert not [name for name in names if name.startswith("results/") and not name.endswith("record.json")]
    assert "units: units.csv" in text
    assert str(chain_study) not in text
    assert "/home/" not in text


def test_the_same_content_gives_the_same_bytes(chain_study: Path, tmp_path: Path) -> None:
    first = pack(tmp_path / "crate.zip").read_bytes()
    for path in Path("figures").iterdir():
        path.touch()
    assert pack(tmp_path / "again.zip").read_bytes() == first


def test_an_altered_crate_is_refused(chain_study: Path, tmp_path: Path) -> None:
    pack(tmp_path / "crate.zip")
    shutil.unpack_archive(tmp_path / "crate.zip", tmp_path / "open")
    (tmp_path / "open" / "figures" / "fig3.pdf").write_text("another figure")
    with pytest.raises(DataError, match=r"figures/fig3.pdf is not what the crate says"):
        check_crate(Path(shutil.make_archive(str(tmp_path / "altered"), "zip", tmp_path / "open")))
    shutil.unpack_archive(tmp_path / "crate.zip", tmp_path / "open")
    metadata = tmp_path / "open" / "ro-crate-metadata.json"
    metadata.write_text(metadata.read_text().replace('"@id": "#step/plot_fig3",', '"@id": "#step/plotted",'))
    with pytest.raises(DataError, match="nothing there is called so"):
        check_crate(Path(shutil.make_archive(str(tmp_path / "altered"), "zip", tmp_path / "open")))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('"/home/ada/units.csv.gz"', '"units.csv.gz"'),
        ("a: /srv/data/units.csv, b", "a: units.csv, b"),
        ("https://w3id.org/ro/crate/1.3", "https://w3id.org/ro/crate/1.3"),
        ("results/paper/claims.parquet", "results/paper/claims.parquet"),
        ("1/2/3", "1/2/3"),
        ("file:///home/ada/units.csv", "file:///home/ada/units.csv"),
    ],
)
def test_absolute_paths_are_cut(text: str, told: str) -> None:
    assert without_places(text) == told
