"""The main job by process: every Python process of a run notes what it took."""

from pathlib import Path

from studies.gtv.benchmarks import main_job

ROOT = Path(__file__).parents[3]


def test_snakemake_and_its_jobs_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        "import gc\n\ngc.freeze()\nsum(range(10**6))\nopen(snakemake.output[0], 'w').close()\n"
    )
    (tmp_path / "Snakefile").write_text('rule one:\n    output: "made"\n    script: "work.py"\n')
    home = tmp_path / "home"
    home.mkdir()
    rows = {row["process"]: row for row in main_job("now", tmp_path / "Snakefile", ROOT / "src", home, "made")}
    assert (home / "made").exists()
    assert {name: row["jobs"] for name, row in rows.items()} == {"Snakemake": 1, "work": 1}
    assert all(row["version"] == "now" for row in rows.values())
    assert 0 < rows["work"]["work_s"] < rows["Snakemake"]["work_s"], "one adds up numbers, the other imports itself"
    assert rows["work"]["start_s"] > 0 == rows["Snakemake"]["start_s"]
