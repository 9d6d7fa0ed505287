"""How likely one claim is: the API, tables of weights, the command, and likely claims of an audit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import genverify as gv
from genverify.attack.probability import count_some, likely_singletons, probable_singletons
from genverify.attack.verify import attack_release
from genverify.cli import main
from genverify.model.claims import parse_claim
from genverify.model.errors import DataError, GenverifyError
from genverify.model.release import Release, Schema, make_release
from genverify.solve.counting.diagram import Budget
from genverify.solve.counting.prior import uniform
from genverify.solve.program import WrongAnswer


@pytest.fixture
def release() -> Release:
    """One young woman, one young man, one of them smokes; a third person of whom nothing is published."""
    schema = gv.make_schema(
        columns={"sex": ["f", "m"], "age": ["young", "old"], "smokes": ["no", "yes"]},
        tables={"sex_age": ["sex", "age"], "smoking": ["age", "smokes"]},
    )
    return make_release(schema, "block", {"N": 3, "sex_age.f.young": 1, "sex_age.m.young": 1, "smoking.young.yes": 1})


def test_a_probability_by_hand(release: Release) -> None:
    """The smoker is the woman or the man; the third is old, of either sex, and smokes or not: 8 datasets, equally likely."""
    found = gv.probability(release, "sex=1,age=0,smokes=1,m=1")
    assert (found.value, found.exact, found.datasets, found.prior) == (0.5, True, 8, "uniform")
    assert found.counts == (0.5, 0.5, 0.0, 0.0)
    assert gv.probability(release, "age=0,smokes=1,m=1").value == 1
    assert gv.probability(release, "age=0,smokes=1,m=2").value == 0
    assert gv.probability(release, "smokes=1,m=7").value == 0
    assert str(found) == "50.00 % (exact, prior: uniform)"


def test_a_table_of_weights_moves_it(release: Release) -> None:
    """Young men smoke three times as often as they do not, young women never: the table says so."""
    table = pd.DataFrame({"sex": [1, 1, 0], "age": 0, "smokes": [1, 0, 0], "weight": [3.0, 1.0, 1.0]})
    found = gv.probability(release, "sex=1,age=0,smokes=1,m=1", table, floor=0.001)
    assert 0.99 < found.value < 1
    assert (
        gv.probability(release, "sex=1,age=0,smokes=1,m=1", gv.prior_of(table, release.schema.domain, "mine", 1.0)).value
        > 0.5
    )


def test_the_floor_is_the_weight_of_what_the_table_does_not_list(release: Release) -> None:
    """Nobody smokes but young women, of whom none does not: the table says both, and the floor contradicts neither."""
    table = pd.DataFrame({"sex": [1, 0], "age": 0, "smokes": [1, 0], "weight": [0.0, 0.0]})
    for claim, value in (("sex=1,age=0,smokes=1,m=1", 0), ("sex=0,age=0,smokes=1,m=1", 1)):
        assert gv.probability(release, claim, table, floor=1.0).value == value
        assert gv.probability(release, claim, table, floor=1.0, budget=Budget(1, 1000, 60.0)).value == value
    # an unlisted record weighs 1, a listed one what the table says: 3 * 1 ways against 1 * 1
    table = pd.DataFrame({"sex": [1], "age": [0], "smokes": [1], "weight": [3.0]})
    assert gv.probability(release, "sex=1,age=0,smokes=1,m=1", table, floor=1.0).value == pytest.approx(0.75)


def test_six_columns_of_thirty_people_are_no_overflow() -> None:
    """Rows that are no sum of others have shares whose common denominator 64 bits do not hold."""
    names = [f"c{place}" for place in range(6)]
    tables = ["035", "034", "145", "015", "023", "013", "012", "245"]
    schema = gv.make_schema(
        columns={name: ["a", "b", "c"] for name in names},
        tables={f"t{places}": [names[int(place)] for place in places] for places in tables},
    )
    rng = np.random.default_rng(0)
    people = pd.DataFrame({name: rng.choice(list("abc"), 30) for name in names})
    release = gv.release_of(schema, people)
    asked = ",".join(f"{name}={'abc'.index(value)}" for name, value in people.iloc[0].items())
    found = gv.probability(release, f"{asked},m=1", budget=Budget(3_000, 100_000, 5.0))
    assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"sex": [1], "age": [0], "weight": [1.0]}, "no column 'smokes'"),
        ({"sex": [1], "age": [0], "smokes": [4], "weight": [1.0]}, "column smokes has no code 4"),
        ({"sex": ["x"], "age": [0], "smokes": [1], "weight": [1.0]}, "row 0: column sex has no value 'x'"),
        ({"sex": [1], "age": [0], "smokes": [1], "weight": ["much"]}, "weights are numbers from 0 on"),
        (
            {"sex": [1], "age": [1], "smokes": [1], "weight": [1.0]},
            "gives probability 0 to the release: cell sex_age.f.young",
        ),
    ],
)
def test_wrong_tables_of_weights_are_refused(release: Release, table: dict, said: str) -> None:
    with pytest.raises(GenverifyError, match=said):
        gv.probability(release, "sex=1,m=1", pd.DataFrame(table))


def test_beyond_the_budget_it_is_estimated(release: Release) -> None:
    found = gv.probability(release, "sex=1,age=0,smokes=1,m=1", budget=Budget(1, 1000, 60.0))
    assert not found.exact
    assert found.low < 0.5 < found.high
    assert found.counts == ()
    assert "estimated" in str(found)


def test_likely_claims_are_not_verified_ones(release: Release) -> None:
    found = attack_release(release)
    likely = probable_singletons(count_some(found.program), uniform(release.schema.domain), found.claims, 1, 0.5, 1)
    names = list(release.schema.domain.names)
    codes = {tuple(row) for row in likely[names].fillna(-1).to_numpy(dtype=int).tolist()}
    assert (1, 0, 1) in codes
    assert not codes & {claim.codes for claim in found.claims if claim.m == 1}
    assert likely["probability"].between(0.5, 1, inclusive="left").all()


def test_likely_claims_that_contradict_the_proofs_stop_an_audit(release: Release) -> None:
    found, prior = attack_release(release), uniform(release.schema.domain)
    single = [claim for claim in found.claims if claim.m == 1]
    fewer = [claim for claim in found.claims if claim != single[0]]
    with pytest.raises(WrongAnswer, match="what is verified and what has probability 1 differ"):
        probable_singletons(count_some(found.program), prior, fewer, 1, 0.5, 1)
    assert probable_singletons(count_some(found.program), prior, fewer, 1, 0.5, 1, decided=False).shape[0]
    open_ = parse_claim("sex=1,age=0,smokes=1,m=1", release.schema.domain)
    with pytest.raises(WrongAnswer, match="what is verified and what has probability 1 differ"):
        probable_singletons(count_some(found.program), prior, [*found.claims, open_], 1, 0.5, 1)


def test_singletons_of_draws_are_those_that_hold_alone() -> None:
    datasets = np.array([[[1, 1], [1, 2]], [[1, 1], [2, 2]]], dtype=np.int16)
    found = {tuple(row) for row in likely_singletons(datasets, 1, 1.0).tolist()}
    assert found == {(-1, 1), (-1, 2), (1, 1)}
    assert {(1, -1), (2, -1)} <= {tuple(row) for row in likely_singletons(datasets, 1, 0.5).tolist()}


def test_the_command_says_how_likely_a_claim_is(
    made_study: Path, toy_schema: Schema, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["probability", "010010201001000", "PET=1,HOME=1,m=1", "--study", str(made_study)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "Probability: 100 % (exact, prior: uniform)" in said
    assert "Datasets that fit: 4." in said
    assert main([*words, "--states", "0"]) == 2
    assert "counts nothing" in capsys.readouterr().err
    assert main([*words, "--prior", str(made_study / "nothing.csv")]) == 2
    assert "cannot be read as a table of weights" in capsys.readouterr().err
    sample = made_study / "sample.csv"
    rows = [[column.codes[0] for column in toy_schema.domain.columns]] * 30
    pd.DataFrame(rows, columns=list(toy_schema.domain.names)).to_csv(sample, index=False)
    assert main([*words, "--sample", str(sample)]) == 0
    assert f"Probability: 100 % (exact, prior: {sample})" in capsys.readouterr().out
    assert main([*words, "--sample", str(sample), "--floor", "0.1"]) == 2
    assert "--sample is smoothed by itself" in capsys.readouterr().err


def test_an_unknown_column_is_named(release: Release) -> None:
    with pytest.raises(DataError, match="no column 'height'"):
        gv.probability(release, "height=1,m=1")
