"""What reruns a job: the modules that the digest of its script may cover. Layout is performance."""

from pathlib import Path

import pytest

from genverify.run.code import code_files, find_script

ROOT = Path(__file__).parents[2]
ALWAYS = ("core/", "run/jobs", "run/code", "run/pieces", "run/layout")
ONEHOT = ("attack/onehot/generate", "attack/onehot/program")
GENERATION = ("attack/contradiction", "attack/generate", "attack/settings", *ONEHOT)
VERIFIED = tuple(f"attack/{name}" for name in ("block", "datasetfile", "effective", "tables", "verify", "settings"))
VERIFICATION = (*VERIFIED, "attack/onehot/attack", *ONEHOT)
COUNTING = "solve/counting/"
MAY_COVER = {
    # no verification, no counting; of the words only the cells that an error names
    "generate_datasets": (
        "solve/",
        "checker/",
        "run/generation",
        "attack/words/layout",
        "attack/words/reasons",
        *GENERATION,
    ),
    "verify_claims": ("solve/", "checker/", *VERIFICATION),  # no words, no walks, no counting
    "rank_areas": ("papers/raprank/",),  # no program, no exchange
    "plot_solvar": ("papers/gtv/figures/solvar", "show/style"),
    "detect_housing": ("solve/", "checker/", "papers/housing/"),
    "write_cellbounds_table": ("papers/cellbounds/", "show/"),
}


@pytest.mark.parametrize("script", MAY_COVER)
def test_a_digest_covers_no_more_than_its_work(script: str) -> None:
    files = [Path(file).resolve() for file in code_files(find_script(ROOT / "scripts", script))]
    modules = [str(file.relative_to(ROOT / "src" / "genverify")) for file in files if file.is_relative_to(ROOT / "src")]
    others = [
        name for name in modules if not name.endswith("__init__.py") and not name.startswith(ALWAYS + MAY_COVER[script])
    ]
    assert others == []
    assert not [name for name in modules if name.startswith(COUNTING)]
