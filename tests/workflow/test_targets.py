"""What rule all asks for: only what the settings of a study allow."""

from functools import cache

from study_runs import dry_run, planned_jobs

NEED_A_DESIGN = {"plot_fig2", "write_table5"}


@cache
def planned(*words: str) -> set[str]:
    """The rules of a dry run that makes everything anew."""
    return set(planned_jobs(dry_run("--forceall", *words)))


def test_rule_all_leaves_out_what_a_study_of_all_blocks_cannot_make() -> None:
    found = planned("--configfile", "config/examples/state.yaml")
    assert {"plot_fig1", "plot_verified", "write_represented", "write_table6", "write_numbers"} <= found
    assert not NEED_A_DESIGN & found


def test_the_default_study_makes_everything() -> None:
    assert {*NEED_A_DESIGN, "plot_fig1", "write_table1"} <= planned()


def test_what_is_asked_for_by_name_is_tried() -> None:
    assert "plot_fig2" in planned("figures/fig2.pdf", "--configfile", "config/examples/state.yaml")


def test_the_reference_set_asks_for_all_five_papers() -> None:
    found = planned("reference")
    assert {"reference", "plot_fig2", "write_table5", "write_proofs", "plot_certainty", "plot_curves_states"} <= found
    assert {"write_cellbounds_table", "plot_housing_g7", "write_housing_simulation", "plot_rr_frontier"} <= found
    assert "plot_gtv_protected" not in found
    assert "benchmark_scaling" not in found


def test_withheld_zeros_are_a_target_of_their_own() -> None:
    steps = {"attack_zeros", "decide_zeros", "search_zeros", "try_onehot", "write_withheld_zeros", "plot_withheld_zeros"}
    assert steps <= planned("withheld_zeros")
    assert not steps & planned()


def test_the_study_over_generators_is_a_target_of_its_own() -> None:
    steps = {"draw_generator", "attack_generator", "count_generator", "write_generators"}
    assert steps <= planned("generators")
    assert not steps & planned()


def test_probabilities_are_a_target_of_their_own() -> None:
    steps = {"fit_priors", "choose_smoothing", "weigh_claims", "judge_probabilities", "plot_calibration", "plot_posterior"}
    assert steps | {"rank_release", "plot_reconstructions", "write_singled_out"} <= planned("probability")


def test_a_figure_of_real_records_needs_their_file_and_is_left_out_without_it() -> None:
    said = dry_run("figures/rap_fig3_records.pdf", right=False)
    remedy = "give its path, --config 'persons={records: mine.csv}'"
    assert said.count(f"persons.records is not set: this target needs a file of yours; {remedy}") == 1
    assert "ingest_records" not in planned("raprank")
