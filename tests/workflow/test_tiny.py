"""config/examples/tiny.yaml: every stage of the default study up to figure 3, on few blocks and in few jobs."""

from pathlib import Path
from typing import Any

import yaml

from genverify.model.settings import merge
from genverify.run.config import parse_config
from study_runs import dry_run, planned_jobs

ROOT = Path(__file__).parents[2]
STAGES = {
    "ingest_microdata",
    "sample_blocks",
    "tabulate_release",
    "generate_datasets",
    "verify_claims",
    "collect_claims",
    "plot_verified",
}
TINY = "config/examples/tiny.yaml"


def planned(*words: str) -> dict[str, int]:
    """The jobs of each rule that figure 3 takes from nothing."""
    return planned_jobs(dry_run("--forceall", "figures/fig3.pdf", *words))


def test_it_has_the_designs_of_the_study_with_a_fifth_of_its_blocks(config: dict[str, Any]) -> None:
    default, tiny = (parse_config(merge(config, text)).sample for text in ({}, yaml.safe_load((ROOT / TINY).read_text())))
    designs = {name: design for name, design in default.designs.items() if design}
    assert designs.keys() == tiny.designs.keys()
    for name, design in designs.items():
        found = tiny.designs[name]
        assert found is not None
        assert (found.size, 5 * found.blocks_per_state) == (design.size, design.blocks_per_state)


def test_it_runs_every_stage_in_few_jobs() -> None:
    default, tiny = planned(), planned("--configfile", TINY)
    assert tiny.keys() == default.keys() >= STAGES
    assert tiny["total"] <= 13 < default["total"]
