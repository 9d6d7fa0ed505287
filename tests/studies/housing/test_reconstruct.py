"""Blocks reconstructed as a whole: by the prior where a dataset fits, nearest to the counts where none does."""

from pathlib import Path

import numpy as np
import pytest

from genverify.model.release import Release
from genverify.solve.program_settings import DEFAULT
from housing_cases import households_frame, statistics_frame
from studies.housing.households import COLUMNS, read_household_file
from studies.housing.joint_program import NATS, Prior, TypeProgram, read_block, read_percentages
from studies.housing.reconstruct import (
    Reconstruction,
    all_datasets,
    blocks_frame,
    datasets_frame,
    flagged_batch,
    reconstruct_block,
)

SETTINGS = DEFAULT.but(max_types=100_000, iterations=100_000, seconds=30.0)
BLOCK = "010010001001001"
# sixteen households, eleven of them subsidized
HOUSEHOLDS = [(1, 1, 0, 1)] * 4 + [(1, 2, 0, 2)] * 2 + [(2, 3, 1, 2)] * 3 + [(3, 5, 3, 1), (2, 5, 2, 1)] + [(0, 2, 0, 1)] * 5
PRIOR = Prior("01", np.array([(s, c, r) for s in range(1, 6) for c in range(s) for r in (1, 2)]), np.arange(1, 31))


def release_of(root: Path, **changed: int) -> Release:
    data = root / "data" / "housing"
    row = statistics_frame(households_frame(BLOCK, HOUSEHOLDS)).iloc[0].drop("block").astype(int).to_dict() | changed
    percentages = read_percentages(data / "published.yaml")
    return read_block(row, BLOCK, read_household_file(data / "domain.yaml"), percentages, "appendix_e")


def reconstructed(release: Release, prior: Prior = PRIOR, top: int = 30) -> Reconstruction:
    return reconstruct_block(release, prior, top, SETTINGS, 2000, 1)


def likelihood(program: TypeProgram, z: np.ndarray, prior: Prior) -> float:
    """Minus the log-likelihood of a dataset, household by household."""
    share = {
        tuple(codes): count / prior.counts.sum() for codes, count in zip(prior.codes.tolist(), prior.counts, strict=True)
    }
    return -sum(count * np.log(share[tuple(codes[1:])]) for codes, count in zip(program.codes.tolist(), z, strict=True))


def test_datasets_fit_and_none_is_less_likely_than_the_truth(root: Path) -> None:
    found = reconstructed(release_of(root))
    assert found.fits
    assert found.likely.proved
    assert (found.error, found.gap) == (0, 0)
    assert all(found.program.fits(z) for z in found.likely.datasets)
    truth = np.array([HOUSEHOLDS.count(tuple(codes)) for codes in found.program.codes.tolist()])
    costs = [likelihood(found.program, z, PRIOR) for z in found.likely.datasets]
    assert np.allclose(costs, np.array(found.likely.costs) / NATS, atol=16 * 0.5 / NATS)
    assert costs[0] <= likelihood(found.program, truth, PRIOR) + 16 / NATS


@pytest.mark.parametrize("odd", [{"CHILDREN": 40}, {"HUD_ONE_ADULT": 90, "HUD_TWO_ADULTS": 90}], ids=str)
def test_without_a_dataset_that_fits_the_nearest_is_taken_and_said_to_be(root: Path, odd: dict[str, int]) -> None:
    found = reconstructed(release_of(root, **odd))
    assert not found.fits
    assert found.error > 0
    assert all((found.program.misses(z) ** 2).sum() == found.error for z in found.likely.datasets)
    assert all(z.sum() == len(HOUSEHOLDS) for z in found.likely.datasets)


def test_a_prior_that_knows_too_little_is_not_hidden(root: Path) -> None:
    found = reconstructed(release_of(root), Prior("01", np.array([(1, 0, 1), (2, 0, 1)]), np.array([1, 1])))
    assert not found.fits
    assert found.error > 0


def test_frames_give_the_datasets_back(root: Path) -> None:
    found = reconstructed(release_of(root))
    frame = datasets_frame(found)
    assert frame.columns.tolist() == ["block", "rank", "cost", *COLUMNS, "count"]
    assert (frame.groupby("rank")["count"].sum() == len(HOUSEHOLDS)).all()
    assert frame["rank"].max() == 29
    assert frame["cost"].is_monotonic_increasing
    assert not frame.duplicated(["rank", *COLUMNS]).any()
    row = blocks_frame([found]).iloc[0]
    assert (row["found"], row["proved"], row["fits"], row["error"]) == (30, True, True, 0)
    assert row["best_cost"] == frame["cost"].min()


def test_no_blocks_give_frames_of_the_same_columns(root: Path) -> None:
    found = [reconstructed(release_of(root), top=2)]
    for some, none in ((all_datasets(found), all_datasets([])), (blocks_frame(found), blocks_frame([]))):
        assert some.columns.tolist() == none.columns.tolist()
        assert len(none) == 0


def test_batches_share_out_the_flagged_blocks() -> None:
    blocks = households_frame("x", [(0, 1, 0, 1)] * 6).assign(block=list("fedcba"))
    blocks["verdict"] = ["violation", "possible", "contradiction", "violation", "undecided", "violation"]
    assert [flagged_batch(blocks, batch, 2) for batch in (0, 1)] == [["a", "d"], ["c", "f"]]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_gives_the_same_reconstruction(root: Path, seed: int) -> None:
    release = release_of(root)
    one, other = (reconstruct_block(release, PRIOR, 20, SETTINGS, 2000, seed) for _ in range(2))
    assert datasets_frame(one).equals(datasets_frame(other))
